# SPDX-License-Identifier: MIT
"""What each store has to do, whichever it is: a test of a store is a Battery with its servers, and what more the store can do."""
import os
import threading
import unittest

import given
from proxy import too_busy

MIB = 1 << 20
BASE = 6 * MIB  # more than the least part of S3
SMALL = 100_000


class Given(given.InFolder):
    """A helper for a store. Subclasses have setUpClass, which makes cls.proxy and cls.env, and:

    url(name), put_raw(name, data, **description), raw(name) -> bytes, description(name) -> dict, names() -> set, delete_raw(name)
    """
    write = r"NONE"       # the request with which an append comes into being, as "METHOD path"
    fetch = r"NONE"       # one that reads a range
    stat_of = r"NONE"     # one that looks at an object
    shared_hows = ()      # how an append, and a cut, is done to an object of BASE bytes
    denied = None         # the answer to a token that expired

    def setUp(self):
        super().setUp()
        self.proxy.forget()
        self.helper = given.Helper(self.url(""), self.env)
        self.name = f"{self.id().rsplit('.', 1)[-1]}/host.xplane.pb"

    def tearDown(self):
        self.proxy.forget()
        self.helper.kill() if self.helper.process.poll() is not None else self.assertEqual(self.helper.close(), 0)

    def given_base(self, size=BASE, **description):
        """(its bytes, its generation)"""
        base = given.some_bytes(size)
        self.put_raw(self.name, base, **description)
        return base, self.helper.do("stat", url=self.url(self.name))["generation"]

    def append(self, base, tail, generation, helper=None):
        helper = helper or self.helper
        return helper.do("append", url=self.url(self.name), size=len(base), file=self.file("tail", tail), if_generation=generation)

    def refused(self, code, op, **args):
        with self.assertRaises(given.Failed) as caught:
            self.helper.do(op, url=self.url(self.name), **args)
        self.assertEqual(caught.exception.code, code, caught.exception.text)
        return caught.exception.text

    def assert_nothing_left(self, killed=False):
        """No object is beside the one that was asked for, and nothing is half done."""
        folder = self.name.rsplit("/", 1)[0]
        self.assertEqual({name for name in self.names() if name.startswith(folder)} - {self.name}, set())


class Battery(Given):
    """What each store has to show."""

    # What it can do.
    def test_lists_folders_and_all_that_is_under_one(self):
        for name in ("l/a.xplane.pb", "l/b/c d+e%.pb", "l/b/ü.pb", "lx/no.pb"):
            self.put_raw(name, b"x" * 10)
        found = self.helper.entries(self.url("l"), recursive=True)
        self.assertEqual({name: row["size"] for name, row in found.items()}, {"a.xplane.pb": 10, "b/c d+e%.pb": 10, "b/ü.pb": 10})
        self.assertEqual(found["b/ü.pb"]["generation"], self.helper.do("stat", url=self.url("l/b/ü.pb"))["generation"])
        self.assertGreater(found["a.xplane.pb"]["mtime_ns"], 1_600_000_000 * 10**9)
        found = self.helper.entries(self.url("l"))
        self.assertEqual(set(found), {"a.xplane.pb", "b/"})
        self.assertTrue(found["b/"]["is_folder"])

    def test_reads_an_object_and_ranges_of_it(self):
        base = given.some_bytes(20 * MIB + 7)
        self.put_raw(self.name, base)
        at = self.helper.do("stat", url=self.url(self.name))
        self.assertEqual(at["size"], len(base))
        done = self.helper.do("read", url=self.url(self.name), file=self.file("whole"))
        self.assertEqual((done["size"], done["generation"]), (len(base), at["generation"]))
        self.assertEqual(self.bytes_of(self.file("whole")), base)
        path = self.file("part", b"." * 100)
        self.helper.do("read", url=self.url(self.name), offset=MIB, size=9 * MIB, file=path, at=50, generation=at["generation"])
        self.assertEqual(self.bytes_of(path), b"." * 50 + base[MIB:10 * MIB])

    def test_many_ranges_are_open_at_once(self):
        base = given.some_bytes(24 * MIB)
        self.put_raw(self.name, base)
        generation = self.helper.do("stat", url=self.url(self.name))["generation"]
        open_ones = [self.helper.ask("read", url=self.url(self.name), offset=at, size=2 * MIB, file=self.file("all"), at=at,
                                     generation=generation) for at in range(0, len(base), 2 * MIB)]
        for number in reversed(open_ones):
            self.assertEqual(self.helper.end_of(number)[0]["size"], 2 * MIB)
        self.assertEqual(self.bytes_of(self.file("all")), base)

    def test_put_makes_an_object_or_takes_the_place_of_one(self):
        data = given.some_bytes(40 * MIB, seed=2)  # several parts
        first = self.helper.do("put", url=self.url(self.name), file=self.file("new", data), if_generation="")
        self.assertEqual(self.raw(self.name), data)
        self.refused("exists", "put", file=self.file("new"), if_generation="")
        second = self.helper.do("put", url=self.url(self.name), file=self.file("new2", b"short"), if_generation=first["generation"])
        self.assertEqual(self.raw(self.name), b"short")
        self.refused("changed", "put", file=self.file("new"), if_generation=first["generation"])
        self.helper.do("put", url=self.url(self.name), file=self.file("none", b""))
        self.assertEqual(self.raw(self.name), b"")
        self.assertNotEqual(first["generation"], second["generation"])

    def test_delete_is_bound_to_a_generation(self):
        _, generation = self.given_base(SMALL)
        self.put_raw(self.name, b"another")
        self.refused("changed", "delete", if_generation=generation)
        self.helper.do("delete", url=self.url(self.name), if_generation=self.helper.do("stat", url=self.url(self.name))["generation"])
        self.refused("not_found", "delete")
        self.refused("not_found", "stat")
        self.refused("not_found", "read", file=self.file())

    def test_a_tail_is_added_changed_and_taken_away_again_byte_for_byte(self):
        base, generation = self.given_base()
        before = self.description(self.name)
        self.proxy.forget()
        done = self.append(base, b"tail one" * 1000, generation)
        self.assertEqual((done["how"], done["uploaded"]), (self.shared_hows[0], 8000))
        self.assertLess(self.proxy.uploaded(), 8000 + 20_000)  # the tail, and what requests say
        self.assertEqual(self.raw(self.name), base + b"tail one" * 1000)
        self.assertEqual(self.described(before), self.described(self.description(self.name)))
        again = self.append(base, b"tail two", done["generation"])
        self.assertEqual(self.raw(self.name), base + b"tail two")
        cut = self.helper.do("cut", url=self.url(self.name), size=len(base), if_generation=again["generation"])
        self.assertEqual(cut["how"], self.shared_hows[1])
        self.assertEqual(self.raw(self.name), base)
        self.assertEqual(before, self.description(self.name))
        self.assertEqual(self.helper.do("cut", url=self.url(self.name), size=len(base))["how"], "nothing")

    def described(self, description):
        return description

    def test_a_small_object_too(self):
        base, generation = self.given_base(SMALL)
        done = self.append(base, b"tail", generation)
        self.assertEqual(self.raw(self.name), base + b"tail")
        self.helper.do("cut", url=self.url(self.name), size=SMALL, if_generation=done["generation"])
        self.assertEqual(self.raw(self.name), base)

    # What goes wrong.
    def test_an_object_that_another_writer_changed_is_left_alone(self):
        base, generation = self.given_base()
        self.put_raw(self.name, b"another profile" * 500_000)
        why = self.refused("changed", "append", size=len(base), file=self.file("tail", b"t"), if_generation=generation)
        self.assertIn("run the command again", why)
        self.refused("changed", "cut", size=100, if_generation=generation)
        self.refused("changed", "read", file=self.file(), size=100, generation=generation)
        self.assertEqual(self.raw(self.name), b"another profile" * 500_000)

    def test_a_writer_between_looking_and_writing_wins(self):
        base, generation = self.given_base()
        other = given.some_bytes(len(base), seed=9)
        self.proxy.rule(self.write, before=lambda: self.put_raw(self.name, other))
        self.refused("changed", "append", size=len(base), file=self.file("tail", b"t"), if_generation=generation)
        self.assertEqual(self.raw(self.name), other)
        self.assert_nothing_left()

    def test_an_object_that_changes_between_ranges_is_not_read(self):
        base = given.some_bytes(24 * MIB)
        self.put_raw(self.name, base)
        self.proxy.rule(self.fetch, before=lambda: self.put_raw(self.name, base[::-1]))
        self.refused("changed", "read", file=self.file())

    def test_an_object_that_is_deleted_meanwhile(self):
        base, generation = self.given_base()
        self.proxy.rule(self.write, before=lambda: self.delete_raw(self.name))
        with self.assertRaises(given.Failed) as caught:
            self.append(base, b"t", generation)
        self.assertIn(caught.exception.code, ("changed", "not_found"))
        self.assertNotIn(self.name, self.names())
        self.assert_nothing_left()

    def test_a_range_past_the_end_is_a_changed_object(self):
        _, generation = self.given_base(SMALL)
        self.refused("changed", "read", file=self.file(), offset=SMALL - 10, size=20, generation=generation)
        self.refused("changed", "read", file=self.file(), offset=SMALL + 10, size=20, generation=generation)

    def test_a_store_that_is_busy_is_asked_again(self):
        base, generation = self.given_base()
        for pattern in (self.stat_of, self.write, self.fetch):
            self.proxy.rule(pattern, answer=too_busy())
        done = self.append(base, b"tail", generation)
        self.assertEqual(self.raw(self.name), base + b"tail")
        self.helper.do("read", url=self.url(self.name), file=self.file(), generation=done["generation"])
        self.assertEqual(self.bytes_of(self.file()), base + b"tail")
        self.assertTrue(all(rule.met.is_set() for rule in self.proxy.rules))

    def test_connections_that_break_are_made_again(self):
        base, generation = self.given_base()
        self.proxy.rule(self.fetch, short=True)
        self.proxy.rule(self.fetch, reset=True)
        self.helper.do("read", url=self.url(self.name), file=self.file(), generation=generation)
        self.assertEqual(self.bytes_of(self.file()), base)
        self.proxy.rule(self.write, reset=True)
        self.append(base, b"tail", generation)
        self.assertEqual(self.raw(self.name), base + b"tail")
        self.assertTrue(all(rule.met.is_set() for rule in self.proxy.rules))

    def test_an_answer_that_is_lost_loses_nothing(self):
        base, generation = self.given_base()
        self.proxy.rule(self.write, lost=True)
        try:
            self.append(base, b"tail", generation)
        except given.Failed as failed:
            self.assertEqual(failed.code, "changed")  # by this very request: who begins again finds its tail
        self.assertEqual(self.raw(self.name), base + b"tail")
        self.assert_nothing_left()

    def test_a_token_that_expired_is_told_with_what_to_do(self):
        _, generation = self.given_base(SMALL)
        self.proxy.rule(self.stat_of, times=100, answer=self.denied)
        self.proxy.rule(self.fetch, times=100, answer=self.denied)
        self.assertRegex(self.refused("denied", "stat"), "run `")
        self.assertRegex(self.refused("denied", "read", file=self.file(), size=10, generation=generation), "run `")

    def test_a_helper_that_is_killed_leaves_the_old_object_and_the_next_one_ends_it(self):
        base, generation = self.given_base()
        rule = self.proxy.rule(self.write, held=True, reset=True)
        self.helper.ask("append", url=self.url(self.name), size=len(base), file=self.file("tail", b"tail"), if_generation=generation)
        self.assertTrue(rule.met.wait(given.LONG_S))
        self.helper.kill()
        self.proxy.forget()
        self.assertEqual(self.raw(self.name), base)
        self.helper = given.Helper(self.url(""), self.env)
        self.append(base, b"tail", generation)
        self.assertEqual(self.raw(self.name), base + b"tail")
        self.assert_nothing_left(killed=True)

    def test_the_end_of_the_input_takes_back_what_is_open(self):
        base, generation = self.given_base()
        rule = self.proxy.rule(self.write, held=True, reset=True)
        self.helper.ask("append", url=self.url(self.name), size=len(base), file=self.file("tail", b"tail"), if_generation=generation)
        self.assertTrue(rule.met.wait(given.LONG_S))
        threading.Timer(1, rule.go.set).start()
        self.assertEqual(self.helper.close(), 0)
        self.assertEqual(self.raw(self.name), base)
        self.assert_nothing_left()

    def test_a_request_is_cancelled(self):
        base, generation = self.given_base()
        rule = self.proxy.rule(self.write, held=True, reset=True)
        number = self.helper.ask("append", url=self.url(self.name), size=BASE, file=self.file("tail", b"tail"), if_generation=generation)
        self.assertTrue(rule.met.wait(given.LONG_S))
        self.helper.do("cancel", of=number)
        with self.assertRaises(given.Failed) as caught:
            self.helper.end_of(number)
        self.assertEqual(caught.exception.code, "cancelled")
        rule.go.set()
        self.assertEqual(self.raw(self.name), base)
        self.assert_nothing_left()

    # How much of this machine it takes.
    def test_memory_is_bounded(self):
        size = 160 * MIB
        self.put_raw(self.name, bytes(size))
        self.helper.do("stat", url=self.url(self.name))
        before = self.helper.peak_bytes()
        self.helper.do("read", url=self.url(self.name), file=self.file())
        self.assertEqual(os.path.getsize(self.file()), size)
        self.helper.do("put", url=self.url(self.name), file=self.file())
        self.assertLess(self.helper.peak_bytes() - before, 300 * MIB)
        self.delete_raw(self.name)


def main():
    unittest.main(verbosity=1)
