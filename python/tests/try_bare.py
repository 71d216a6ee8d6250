# SPDX-License-Identifier: Apache-2.0
"""What works where there is nothing but Python: tools/test-bare-wheel runs it on a bare Debian."""

import importlib.util
import tempfile

import nigh

assert not any(map(importlib.util.find_spec, ("numpy", "pyarrow", "pandas", "tqdm"))), "this is no bare system"
place = tempfile.mkdtemp()

kept, result = nigh.dedup(["a b c d e f g h", "A b c d e f g h!", "i j k l m n o p"])
assert kept == ["a b c d e f g h", "i j k l m n o p"] and len(result.clusters) == 1
assert "<html" in result.report_html()

texts = ["rain in the north", "sun in the south"]
with nigh.Collection.create(f"{place}/news.nigh", texts, scheme="simhash", ids=["a", "b"], progress=False) as news:
    assert news.search("rain in the north", k=1).matches()[0].id == "a"
    news.delete("a")
    assert list(news) == ["b"]

with nigh.Live(f"{place}/seen.nigh") as seen:
    assert [seen.find_or_add("one two three four").new for _ in range(2)] == [True, False]

model = nigh.train(["cat purr"] * 5 + ["stock fell"] * 5, ["x"] * 5 + ["y"] * 5)
assert model.sign(["a cat"]).shape == (1, 4)
assert nigh.eval.signatures(["one two", "two three"], "simhash").attrs["pairs"] == 1
print(f"nigh {nigh.__version__} works, with the kernel {nigh.kernel()}")
