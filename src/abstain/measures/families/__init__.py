"""The measures of abstain itself, a module a family: importing it declares them."""
