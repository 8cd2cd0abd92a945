import FoundationEssentials

/// The library of Tests/Shims/publication.c, which a program is started with to have its calls recorded or failed.
enum PublicationShim {
    static var isPossible: Bool {
        get async { await library.value != nil }
    }

    /// Compiled once for all tests.
    private static let library = Task<String?, Never> { await Shim.compile("publication") }

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
