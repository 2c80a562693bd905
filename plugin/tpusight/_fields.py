# SPDX-License-Identifier: MIT
"""What the program said, as a dict whose keys are attributes too."""
from typing import Any, Dict, List


class Fields(Dict[str, Any]):
    """A JSON object of the program's: `x["step_time_ps"]` is `x.step_time_ps`. Unknown figures are None."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self._attribute(name, self[name])
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name} (it has: {', '.join(map(str, self))})") from None

    def _attribute(self, name: str, value: Any) -> Any:
        """What x.NAME gives for x["NAME"]."""
        return value

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *(key for key in self if isinstance(key, str) and key.isidentifier())})
