import FoundationEssentials
import TestSupport
import Testing

/// A browser without a window, to see a page as people do.
enum Chromium {
    /// Its path; `nil` where it is not installed.
    static let path = ["chromium", "chromium-browser", "google-chrome"].lazy
        .flatMap { name in ["/usr/bin/\(name)", "/usr/local/bin/\(name)"] }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    static let missing = "Chromium is not installed (apt-get install chromium)"

    /// Whether a program can also operate it.
    static let hasDriver = path != nil && FileManager.default.isExecutableFile(atPath: "/usr/bin/chromedriver")

    static let missingDriver = "Chromium cannot be operated (apt-get install chromium chromium-driver)"

    /// What happened to a page.
    struct Visit {
        /// The document as it is in the end, written as HTML.
        let document: String
        /// What the page or the browser wrote to the page's console.
        let console: [String]
        /// Every requested address, without the browser's own requests.
        let requests: Set<String>
    }

    /// Opens a file, waits until it is loaded and its scripts have run.
    static func visit(_ file: String, in directory: String) async throws -> Visit {
        let profile = directory + "/profile-" + UUID().uuidString
        let log = profile + ".json"
        let document = try await withChildProcess(
            try #require(path),
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--user-data-dir=\(profile)",
                "--enable-logging=stderr", "--log-net-log=\(log)", "--window-size=1280,3000",
                // Timers run at once: the page draws its charts with them.
                "--virtual-time-budget=20000", "--dump-dom",
                "file://\(file)",
            ],
            environment: ["HOME": directory, "PATH": "/usr/bin:/bin"]
        ) { process in
            let code = await process.wait()
            try #require(code == 0, "\(process.errors.suffix(2_000))")
            let console = process.errors.split(separator: "\n").filter { $0.contains("CONSOLE") }
            return (text: process.output, console: console.map(String.init))
        }
        let netLog = try String(contentsOfFile: log, encoding: .utf8)
        let addresses = netLog.matches(of: /"url":"((?:https?|wss?|ftp):[^"]*)"/).map { String($0.1) }
        return Visit(
            document: document.text,
            console: document.console,
            // With or without an option, it looks for updates and the time.
            requests: Set(addresses.filter { !$0.contains(/^https?:\/\/[a-z0-9.-]*\.google(apis)?\.com\//) })
        )
    }
}
