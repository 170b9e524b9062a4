"""pandas: importing this module gives frames an accessor, `frame.abstain.score(gold)`."""

import pandas as pd

from abstain.integrations.accessor import Accessor

pd.api.extensions.register_dataframe_accessor("abstain")(Accessor)
