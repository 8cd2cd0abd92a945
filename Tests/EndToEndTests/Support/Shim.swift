import FoundationEssentials
import TestSupport

/// A library in C that a program is started with.
enum Shim {
    static let missing = "no C compiler (clang, cc or gcc) is installed"

    /// Compiles a library of Tests/Shims; the file of 20 KB is in the temporary directory.
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
}
