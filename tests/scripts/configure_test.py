#!/usr/bin/env python3
"""CMake's answers when llama.cpp is missing, present, or wanted with CUDA. Nothing is compiled: the
libraries are empty files, and the generated build files are read."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = ["llama-common", "llama", "ggml", "ggml-cpu", "ggml-base"]


class Configure(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.cache = self.root / "cache"
        (self.cache / "build").mkdir(parents=True)

    def configure(self, *options):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SWARMKV_")}
        return subprocess.run(
            ["cmake", "-S", str(ROOT), "-B", str(self.root / "build"), "-G", "Ninja",
             f"-DSWARMKV_CACHE={self.cache}", "-DSWARMKV_BUILD_TESTS=OFF", "-DSWARMKV_BUILD_BENCH=OFF",
             *options], env=environment, text=True, capture_output=True, timeout=240, check=False)

    def have_llama(self, variant, *libraries):
        build = self.cache / "build" / ("llama-" + variant)
        build.mkdir()
        (build / "CMakeCache.txt").write_text("GGML_OPENMP_ENABLED:INTERNAL=OFF\n", encoding="utf-8")
        for name in libraries:
            (build / f"lib{name}.a").write_text("", encoding="utf-8")
        (self.cache / "build" / f"0c1e570-{variant}.cmake").write_text(
            f'set(SWARMKV_LLAMA_SOURCE "{self.root}")\nset(SWARMKV_LLAMA_BUILD "{build}")\n'
            'set(SWARMKV_LLAMA_COMMIT "0c1e570")\n', encoding="utf-8")

    def linked(self):
        text = (self.root / "build" / "build.ninja").read_text(encoding="utf-8")
        lines = text.splitlines()
        at = next(i for i, line in enumerate(lines)
                  if line.startswith("build ") and "CXX_SHARED_LIBRARY_LINKER__swarmkv" in line)
        return next(line for line in lines[at:] if line.strip().startswith("LINK_LIBRARIES"))

    def test_on_without_a_build_names_the_script(self):
        done = self.configure("-DSWARMKV_LLAMA=ON")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("run scripts/get-llama", " ".join(done.stderr.split()))

    def test_auto_without_a_build_takes_the_fake_engine_and_says_so(self):
        done = self.configure("-DSWARMKV_LLAMA=AUTO")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fake engine only (run scripts/get-llama)", done.stdout)
        self.assertNotIn("libllama", self.linked())

    def test_links_llama_in_the_order_the_linker_needs(self):
        self.have_llama("cpu", *LIBRARIES)
        done = self.configure("-DSWARMKV_LLAMA=ON")
        self.assertEqual(done.returncode, 0, done.stderr)
        line = self.linked()
        places = [line.index(f"/lib{name}.a") for name in LIBRARIES]
        self.assertEqual(places, sorted(places), line)

    def test_an_incomplete_build_names_what_is_missing(self):
        self.have_llama("cpu", *LIBRARIES[1:])
        done = self.configure("-DSWARMKV_LLAMA=ON")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("libllama-common.a is missing", done.stderr)

    def test_cuda_needs_a_build_with_cuda(self):
        self.have_llama("cpu", *LIBRARIES)
        done = self.configure("-DSWARMKV_CUDA=ON")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("SWARMKV_CUDA=ON scripts/get-llama", " ".join(done.stderr.split()))

    def test_cuda_links_its_backend_and_runtime(self):
        self.have_llama("cuda", *LIBRARIES, "ggml-cuda")
        modules = self.root / "modules"  # stands in for the CUDA toolkit, which need not be here
        modules.mkdir()
        (modules / "FindCUDAToolkit.cmake").write_text(
            "foreach(_name cudart_static cublas cublasLt cuda_driver)\n"
            "  add_library(CUDA::${_name} INTERFACE IMPORTED)\n"
            "  set_property(TARGET CUDA::${_name} PROPERTY INTERFACE_LINK_LIBRARIES stand_in_${_name})\n"
            "endforeach()\nset(CUDAToolkit_FOUND TRUE)\n", encoding="utf-8")
        done = self.configure("-DSWARMKV_CUDA=ON", f"-DCMAKE_MODULE_PATH={modules}")
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ["/libggml-cuda.a", "stand_in_cublas", "stand_in_cuda_driver"]:
            self.assertIn(word, self.linked())

    def test_cuda_without_llama_is_a_contradiction(self):
        done = self.configure("-DSWARMKV_CUDA=ON", "-DSWARMKV_LLAMA=OFF")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("drop SWARMKV_LLAMA=OFF", " ".join(done.stderr.split()))


if __name__ == "__main__":
    unittest.main()
