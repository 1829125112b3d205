"""hlod.partitioning.rules: divisions of arguments by rules and strategies, and their form for GSPMD. Expected divisions by hand."""

import unittest
from unittest import mock

from hlod.partitioning import rules
from hlod.partitioning.rules import Argument

MESH = [["data", 4], ["model", 2]]
WEIGHTS = [
    Argument("params['wq']", (126, 4096, 8192), False, True),
    Argument("params['norm']", (4096,), False, True),
    Argument("tokens", (16, 2048), True, False),
]


class Rules(unittest.TestCase):
    def test_a_spec_is_that_of_jax(self):
        for text, entries in (
            ("wq=data,None", [("data",), ()]),
            ("wq=P('data', None)", [("data",), ()]),
            ('wq=PartitionSpec(None, ("data", "model"))', [(), ("data", "model")]),
            ("wq=None,data+model", [(), ("data", "model")]),
            ("a=b=model", [("model",)]),
            ("wq=P()", []),
            ("wq=P((), 'data')", [(), ("data",)]),
            ("wq=P('data',)", [("data",)]),
            ("wq=", []),
        ):
            self.assertEqual(rules.parse(text)[1], entries, text)

    def test_a_rule_that_is_none_is_a_sentence(self):
        for text, reason in (
            ("wq", "is not of the form REGEX=SPEC"),
            ("=data", "is not of the form REGEX=SPEC"),
            ("(=data", "is not a regular expression"),
            ("wq=data,data", "divides two dimensions over the axis 'data'"),
            ("wq=7", "has '7' where an axis"),
            ("wq=data+None", "where an axis"),
            ("wq=data,,model", "has an empty dimension"),
        ):
            with self.assertRaisesRegex(rules.Wrong, reason):
                rules.parse(text)

    def test_the_last_rule_that_matches_counts(self):
        found = rules.by_rules(["params=data", "wq=None,data,model"], WEIGHTS, MESH)
        self.assertEqual(found, {0: [(), ("data",), ("model",)], 1: [("data",)]})

    def test_a_rule_that_does_not_fit_is_a_sentence(self):
        for text, reason in (
            ("wk=data", r"matches no argument; there are params\['wq'\], params\['norm'\], tokens"),
            ("wq=batch", "names the axis 'batch'; the mesh has data, model"),
            ("norm=None,data", r"divides 2 dimensions; params\['norm'\] has 4096"),
        ):
            with self.assertRaisesRegex(rules.Wrong, reason):
                rules.by_rules([text], WEIGHTS, MESH)


    def test_an_expression_that_tries_all_ways_is_a_sentence(self):
        # 2^60 ways to divide the letters among the repetitions.
        weights = [Argument("w" * 60 + "!", (8,), False, True)]
        with mock.patch.object(rules, "_MATCH_SECONDS", 0.1), self.assertRaisesRegex(rules.Wrong, r"'\(w\+\)\+\$' .* repeats what contains a repetition"):
            rules.by_rules(["(w+)+$=data"], weights, MESH)
        self.assertEqual(rules.by_rules(["(w+)+!$=data"], weights, MESH), {0: [("data",)]})


class Strategies(unittest.TestCase):
    def test_each_divides_what_its_name_says(self):
        both, whole = ("data", "model"), [(), (), ()]
        for strategy, wq, tokens in (
            ("data", whole, [both, ()]),
            ("fsdp", [(), (), both], [both, ()]),
            ("tensor", [(), (), ("model",)], [("data",), ()]),
            ("fsdp+tensor", [(), ("data",), ("model",)], [("data",), ()]),
            ("fsdp+sequence", [(), (), both], [("data",), ("model",)]),
            ("fsdp+tensor+sequence", [(), ("data",), ("model",)], [("data",), ("model",)]),
        ):
            self.assertEqual(rules.by_strategy(strategy, WEIGHTS, MESH), {0: wq, 1: [()], 2: tokens}, strategy)
            self.assertIn(strategy, rules.STRATEGIES)

    def test_a_batch_that_cannot_be_divided_is_a_sentence(self):
        with self.assertRaisesRegex(rules.Wrong, "tokens has 16 rows, which cannot be divided among 64"):
            rules.by_strategy("data", WEIGHTS, [["data", 32], ["model", 2]])


class Gspmd(unittest.TestCase):
    def test_a_division_is_written_in_tiles(self):
        # Device 2 d + m of data=4,model=2: rows over model put devices 0, 2, 4, 6 first.
        for entries, rank, text in (
            ([("data",)], 2, "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"),
            ([(), ("data",)], 2, "{devices=[1,4,2]<=[8] last_tile_dim_replicate}"),
            ([("model",)], 2, "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}"),
            ([("model",), ("data",)], 2, "{devices=[2,4]<=[4,2]T(1,0)}"),
            ([("data", "model")], 1, "{devices=[8]<=[8]}"),
            ([()], 2, "{replicated}"),
        ):
            self.assertEqual(rules.tiles(entries, rank, MESH), text)


if __name__ == "__main__":
    unittest.main()
