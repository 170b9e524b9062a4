"""Other tools' logs."""

from abstain.io.logs import benchmarks, eval_tools, inspect, lm_eval

READERS = (
    *(benchmarks.ABSTENTIONBENCH, eval_tools.DEEPEVAL, inspect.READER, lm_eval.READER),
    *(eval_tools.OPENAI_EVALS, benchmarks.PAN, eval_tools.PROMPTFOO),
    *(benchmarks.SIMPLEQA, benchmarks.SQUAD),
)
