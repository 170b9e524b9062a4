"""polars: importing this module gives frames, lazy ones too, `frame.abstain.score(gold)`."""

import polars as pl

from abstain.integrations.accessor import Accessor

pl.api.register_dataframe_namespace("abstain")(Accessor)
pl.api.register_lazyframe_namespace("abstain")(Accessor)
