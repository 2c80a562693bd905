"""What TensorBoard finds by the entry point. Imports nothing heavy: it runs at every start of TensorBoard."""
from tensorboard.plugins import base_plugin


class TpusightLoader(base_plugin.TBLoader):
    def load(self, context):
        if not context.logdir:
            return None  # data from elsewhere: there are no profile folders
        from tensorboard_plugin_tpusight.plugin import TpusightPlugin

        return TpusightPlugin(context)
