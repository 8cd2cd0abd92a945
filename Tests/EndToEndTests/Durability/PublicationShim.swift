import FoundationEssentials
import TestSupport

/// The library of Tests/Shims/publication.c, which a program is started with to have its calls recorded or failed.
enum PublicationShim {
    static let missing = "no C compiler (clang, cc or gcc) is installed"

    static var isPossible: Bool {
        get async { await library.value != nil }
    }

    /// Compiled once for all tests.
    private static let library = Task<String?, Never> { await compile("publication") }

    /// Compiles a library of Tests/Shims; the file lies in the temporary directory, 20 KB.
    static func compile(_ name: String) async -> String? {
        let folder = FileManager.default.temporaryDirectory
        let path = folder.appending(path: "storeledger-shim-\(UUID().uuidString).so").path
        let source = Executables.checkout + "/Tests/Shims/\(name).c"
        let search = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        for compiler in ["clang", "cc", "gcc"] {
            let words = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", path, source, "-ldl"]
            let code = try? await withChildProcess("/usr/bin/env", words, environment: search) { await $0.wait() }
            if code == 0 { return path }  // any other end, then the next one
        }
        return nil
    }

    /// The environment that loads it into a program, to watch the files of `directory` and write its calls to `log`.
    ///
    /// `faults` names the calls that fail, as the C file explains; no more than `space` bytes fit.
    static func environment(
        watching directory: String,
        log: String,
        faults: String = "",
        space: Int? = nil
    ) async -> [String: String] {
        var variables = [
            "LD_PRELOAD": await library.value ?? "", "PUBLICATION_DIRECTORY": directory, "PUBLICATION_LOG": log,
            "PUBLICATION_FAULTS": faults,
        ]
        if let space { variables["PUBLICATION_SPACE"] = String(space) }
        return variables
    }
}
