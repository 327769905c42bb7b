"""The library as a Conan 2 package: conan create . -o "easyretry/*:postgres=True"

It has the core and the parts that the options ask for. The program comes with the packages and the image (docs/deployment.md)."""
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy, load
from conan.tools.gnu import PkgConfigDeps

CORE = {"fmt": "[>=9 <12]", "lua": "[>=5.4 <5.6]", "openssl": "[>=3 <4]", "sqlite3": "[>=3.35 <4]", "xxhash": "[>=0.8 <0.9]"}
HEADERS = {"boost": "[>=1.81 <2]", "nlohmann_json": "[>=3.11 <4]", "tl-expected": "[>=1 <2]"}  # of the core, too
CURL = {"libcurl": "[>=7.86 <9]"}


class Part:
    """A part of the library, as cmake/install.cmake installs it."""

    def __init__(self, *entries, requires=None, parts=()):
        self.entries = entries         # functions that a linker would leave out of an archive
        self.requires = requires or {}
        self.parts = parts             # others that it needs; http and servers have no option


PARTS = {
    "alerts": Part("easyretry_alerts", requires=CURL),
    "config": Part("easyretry_yaml", requires={"yaml-cpp": "[>=0.7 <1]"}),
    "mxrmq": Part(parts=("redis",)),
    "mysql": Part("easyretry_mysql_backend", requires={"mariadb-connector-c": "[>=3.3 <4]"}, parts=("servers",)),
    "nacos": Part("easyretry_nacos_registry", "easyretry_nacos_config", requires={**CURL, "grpc": "[>=1.51 <2]", "protobuf": "[>=3.21]"},
                  parts=("http",)),
    "postgres": Part("easyretry_postgres_backend", requires={"libpq": "[>=14 <18]"}, parts=("servers",)),
    "redis": Part("easyretry_redis_backend", requires={"hiredis": "[>=0.14 <2]"}, parts=("servers",)),
    "remote": Part(requires=CURL, parts=("http",)),
    "tracing": Part("easyretry_tracing", requires=CURL, parts=("http",)),
}
HIDDEN = {"http": Part(requires={**CURL, "openssl": CORE["openssl"]}), "servers": Part()}


class EasyRetry(ConanFile):
    name = "easyretry"
    description = "Stores failed calls in a database and retries them until they succeed or their policy gives up"
    license = "Apache-2.0"
    topics = ("retry", "queue", "sqlite", "postgresql")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], **{part: [True, False] for part in PARTS}}
    default_options = {"shared": False, "fPIC": True, **{part: False for part in PARTS}}
    implements = ["auto_shared_fpic"]
    exports_sources = "CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "packaging/*"

    def set_version(self):
        self.version = re.search(r"project\(easyretry VERSION (\S+)", load(self, f"{self.recipe_folder}/CMakeLists.txt")).group(1)

    def chosen(self):
        return {name: part for name, part in PARTS.items() if self.options.get_safe(name)}

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("EasyRetry runs on Linux only")
        for name, part in self.chosen().items():
            for other in part.parts:
                if other in PARTS and not self.options.get_safe(other):
                    raise ConanInvalidConfiguration(f"the part {name} needs the part {other}: add -o easyretry/*:{other}=True")

    def wanted(self):
        """{package: versions} of everything that is required."""
        wanted = {**CORE, **HEADERS}
        for part in self.chosen().values():
            wanted.update(part.requires)
        return wanted

    def provided(self):
        """The packages among them that come from Conan."""
        return {one.ref.name for one in self.dependencies.host.values()}

    def requirements(self):
        for name, version in self.wanted().items():
            self.requires(f"{name}/{version}")

    def build_requirements(self):
        if self.options.nacos:
            self.tool_requires("protobuf/<host_version>")

    def generate(self):
        toolchain = CMakeToolchain(self, generator="Ninja")
        toolchain.user_presets_path = False
        for part in PARTS:
            toolchain.cache_variables[f"EASYRETRY_{part.upper()}"] = "ON" if self.options.get_safe(part) else "OFF"
        for option in ("SERVER", "TESTS", "EXAMPLES", "BENCHMARKS"):
            toolchain.cache_variables[f"EASYRETRY_{option}"] = "OFF"
        toolchain.cache_variables["CMAKE_DISABLE_PRECOMPILE_HEADERS"] = "ON"
        toolchain.generate()
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        for component in ("development", "library"):
            self.run(f'cmake --install "{self.build_folder}" --prefix "{self.package_folder}" --component {component}')
        copy(self, "LICENSE", self.source_folder, f"{self.package_folder}/licenses")

    # CMakeDeps makes targets of the components: easyretry::easyretry has all, easyretry::postgres is one.
    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "easyretry")
        # The public headers include none of HEADERS; what the platform provides is no package.
        self.cpp_info.ignored_requires = [name for name in self.wanted() if name in HEADERS or name not in self.provided()]
        self.component("core", "easyretry", CORE)
        self.cpp_info.components["core"].system_libs = ["pthread"]
        built = self.built()
        for name, part in built.items():
            # The shared library has all parts.
            library = None if self.options.shared else f"easyretry-{name}"
            self.component(name, library, part.requires, ["core", *(other for other in part.parts if other in built)])
            if library:
                self.cpp_info.components[name].exelinkflags = [f"-Wl,-u,{entry}" for entry in part.entries]

    def built(self):
        """The chosen parts, and in an archive those that they need."""
        chosen = self.chosen()
        needed = {other for part in chosen.values() for other in part.parts if other in HIDDEN and not self.options.shared}
        return {**{name: HIDDEN[name] for name in sorted(needed)}, **chosen}

    def component(self, name, library, requires, components=()):
        component = self.cpp_info.components[name]
        component.set_property("cmake_target_name", f"easyretry::{name}")
        component.libs = [library] if library else []
        component.requires = [*components, *(f"{package}::{package}" for package in requires if package in self.provided())]
