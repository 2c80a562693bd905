# SPDX-License-Identifier: MIT
"""What TensorBoard finds by the entry point. Imports nothing heavy: it runs at every start of TensorBoard."""
from tensorboard.plugins import base_plugin


def address(text):
    from tensorboard_plugin_tpusight import traces

    if not traces.IS_UI.fullmatch(text):
        raise ValueError(text)
    return text


class TpusightLoader(base_plugin.TBLoader):
    def define_flags(self, parser):
        parser.add_argument_group("tpusight plugin").add_argument(
            "--tpusight_perfetto_ui", metavar="URL", type=address, default=None,
            help="the copy of Perfetto's page in which the tab TPUsight opens traces (default https://ui.perfetto.dev)")

    def load(self, context):
        if not context.logdir:
            return None  # data from elsewhere: there are no profile folders
        from tensorboard_plugin_tpusight.plugin import TpusightPlugin

        return TpusightPlugin(context)
