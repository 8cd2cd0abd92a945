package import Basics
import FoundationEssentials
import Ledger

/// Chart.js from the distribution or the installation; the page contains the whole file.
package struct ChartLibrary: Sendable {
    let script: String
    /// The version, such as `3.9.1`.
    let version: String

    package static let fileName = "chart.min.js"

    /// The file of the package libjs-chart.js in Debian and Ubuntu.
    package static let systemFile = "/usr/share/javascript/chart.js/\(fileName)"

    /// Searches the installed prefix's `share/storeledger` first, then the distribution's path.
    ///
    /// - Parameters:
    ///   - executable: The executable in the prefix: `PREFIX/bin/storeledger`.
    ///   - system: The distribution's path.
    /// - Returns: The first file found.
    /// - Throws: ``NoChartLibrary``.
    package static func find(
        executable: String = SQLDirectory.currentExecutable(),
        system: String = systemFile
    ) throws(NoChartLibrary) -> ChartLibrary {
        let prefix = executable.split(separator: "/").dropLast(2).map { "/\($0)" }.joined()
        for path in ["\(prefix)/share/storeledger/\(fileName)", system] {
            guard let data = FileManager.default.contents(atPath: path) else { continue }
            return try ChartLibrary(String(decoding: data, as: UTF8.self), at: path)
        }
        throw NoChartLibrary(found: nil)
    }

    private init(_ script: String, at path: String) throws(NoChartLibrary) {
        // The licence requires its notice in every copy, and the notice contains the version.
        guard let version = script.prefix(500).firstMatch(of: /\* Chart\.js v([34]\.[0-9.]+)/)?.1,
            !script.lowercased().contains("</script"), !script.contains("<!--")
        else { throw NoChartLibrary(found: path) }
        self.script = script
        self.version = String(version)
    }
}

/// The chart library is missing, so the page cannot be made.
package struct NoChartLibrary: ExplainedError, Equatable {
    /// A file at the expected path that is not the library.
    let found: String?

    package init(found: String?) { self.found = found }

    package var sentence: String {
        let package = "install the package libjs-chart.js (apt-get install libjs-chart.js)"
        return found.map { "\($0) is not Chart.js 3 or 4 as it is published; \(package)" }
            ?? "Chart.js, which draws the report's charts, is not there; \(package)"
    }

    package var status: ExitStatus { .missingInput }
}
