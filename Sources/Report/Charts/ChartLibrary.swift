import FoundationEssentials
import Ledger

/// Chart.js, as the distribution or an installation has it; the page takes it in whole.
package struct ChartLibrary: Sendable {
    let script: String
    /// Such as `3.9.1`.
    let version: String

    package static let fileName = "chart.min.js"

    /// Where Debian's and Ubuntu's package libjs-chart.js puts it.
    package static let systemFile = "/usr/share/javascript/chart.js/\(fileName)"

    /// Looks in the installed prefix's `share/storeledger` first, then where the distribution has it.
    ///
    /// - Parameters:
    ///   - executable: Whose prefix is meant: `PREFIX/bin/storeledger`.
    ///   - system: Where the distribution has it.
    /// - Returns: The first that is there.
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
        // The licence asks for its notice in every copy, and the notice names the version.
        guard let version = script.prefix(500).firstMatch(of: /\* Chart\.js v([34]\.[0-9.]+)/)?.1,
            !script.lowercased().contains("</script"), !script.contains("<!--")
        else { throw NoChartLibrary(found: path) }
        self.script = script
        self.version = String(version)
    }
}

/// The page cannot be made without its charts.
package struct NoChartLibrary: Error, Equatable {
    /// A file in its place that is something else.
    let found: String?

    package init(found: String?) { self.found = found }

    package var sentence: String {
        let package = "install the package libjs-chart.js (apt-get install libjs-chart.js)"
        return found.map { "\($0) is not Chart.js 3 or 4 as it is published; \(package)" }
            ?? "Chart.js, which draws the report's charts, is not there; \(package)"
    }
}
