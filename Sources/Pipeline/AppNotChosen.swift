package import Basics
package import Ledger

/// A command is about one app, and its options do not say which.
package struct AppNotChosen: ExplainedError, CustomStringConvertible {
    /// The apps that come into question.
    let known: [KnownApp]

    package init(known: [KnownApp]) { self.known = known }

    package var description: String {
        guard !known.isEmpty else { return "the ledger has no app yet; storeledger run JOB adds the first" }
        let names = known.map { "\($0.bundleId) (\($0.environment))" }.joined(separator: ", ")
        return "choose an app of the ledger with --app and --environment: \(names)"
    }

    package var status: ExitStatus { .usage }
}

/// An app has no job with a name, or none at all.
package struct JobNotFound: ExplainedError, CustomStringConvertible {
    /// `nil` if any job would do.
    let name: String?
    let app: KnownApp
    let known: [String]

    package init(name: String?, app: KnownApp, known: [String]) {
        self.name = name
        self.app = app
        self.known = known
    }

    package var description: String {
        let place = "\(app.bundleId) (\(app.environment))"
        guard let name, !known.isEmpty else { return "no job of \(place) has ever run" }
        return "no job \(name) of \(place) has ever run; these have: \(known.joined(separator: ", "))"
    }

    package var status: ExitStatus { .usage }
}
