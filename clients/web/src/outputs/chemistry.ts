// KaTeX's commands of chemistry, `\ce` and `\pu`. Loaded with the first formula that has them.
import "katex/contrib/mhchem";
