#!/usr/bin/env python3
"""The checker itself must see each kind of wrong include, or its silence means nothing."""

import pathlib
import tempfile
import unittest

import check_includes


class CheckIncludes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ["base/mutex.h", "kv/tree.h", "engine/model.h", "engine/fake/fake.h",
                     "schedule/scheduler.h", "text/utf8.h"]:
            self.write("src/" + name, "#pragma once\n")
        self.write("include/swarmkv/error.h", "#pragma once\n#include <string>\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def problems(self):
        return check_includes.check(self.root)

    def expect_one(self, name, text, words):
        self.write(name, text)
        found = self.problems()
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])
        self.assertIn(name, found[0])

    def test_accepts_a_tree_that_follows_the_table(self):
        self.write("src/kv/tree.cpp", '#include "kv/tree.h"\n#include "engine/model.h"\n'
                   '#include "base/mutex.h"\n#include "swarmkv/error.h"\n#include <vector>\n')
        self.write("src/engine/llama/model.cpp", '#include "llama.h"\n#include "chat.h"\n')
        self.write("src/api/engine.cpp", '#include "kv/tree.h"\n#include "engine/fake/fake.h"\n')
        self.write("cli/main.cpp", '#include "swarmkv/error.h"\n#include "cli/flags.h"\n')
        self.write("cli/flags.h", "")
        self.write("bench/micro/tree.cpp", '#include "kv/tree.h"\n')
        self.assertEqual(self.problems(), [])

    def test_refuses_a_lower_folder_that_includes_a_higher_one(self):
        self.expect_one("src/kv/tree.cpp", '#include "schedule/scheduler.h"\n',
                        "kv may not include schedule")

    def test_refuses_anything_but_base_in_base(self):
        self.expect_one("src/base/clock.h", '#include "text/utf8.h"\n', "base may not include text")

    def test_refuses_a_concrete_engine_in_the_scheduler(self):
        self.expect_one("src/schedule/loop.cpp", '#include "engine/fake/fake.h"\n',
                        "schedule may not include engine/fake")

    def test_refuses_llama_headers_outside_their_folder(self):
        self.expect_one("src/kv/tree.cpp", '#include <llama.h>\n', "only src/engine/llama")

    def test_refuses_src_in_the_command_line(self):
        self.expect_one("cli/main.cpp", '#include "kv/tree.h"\n', "only include/swarmkv")

    def test_refuses_other_libraries_in_public_headers(self):
        self.expect_one("include/swarmkv/x.h", "#include <nlohmann/json.hpp>\n", "public header")

    def test_refuses_an_unknown_folder(self):
        self.expect_one("src/misc/x.h", "#include <vector>\n", "the table does not know")

    def test_refuses_a_large_header_in_many_files(self):
        for i in range(4):
            self.write(f"src/pipeline/p{i}.cpp", "#include <yaml-cpp/yaml.h>\n")
        found = self.problems()
        self.assertEqual(len(found), 1, found)
        self.assertIn("is included by 4 files", found[0])

    def test_refuses_headers_that_one_compiler_lacks(self):
        self.expect_one("src/text/x.cpp", "#include <format>\n", "not available")


if __name__ == "__main__":
    unittest.main()
