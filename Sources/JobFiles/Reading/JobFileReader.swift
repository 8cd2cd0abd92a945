import AppStoreModel
import JobSyntax
import Streams

/// Reads a ``JobFile`` from YAML.
///
/// There is one function for each part, in the order of the file.
///
/// A function returns `nil` if its part is missing or invalid. Problems are then already reported.
struct JobFileReader {
    let path: String
    let problems: Problems
    let paths: JobPaths
    /// Whether the file has other apps, with the same paths.
    private let hasOtherApps: Bool

    /// - Parameter bundleId: The app's, which stands in paths.
    init(path: String, problems: Problems, bundleId: String? = nil, hasOtherApps: Bool = false) {
        self.path = path
        self.problems = problems
        paths = JobPaths(jobFile: path, bundleId: bundleId)
        self.hasOtherApps = hasOtherApps
    }

    /// Reports a directory that another app of the file has, too.
    func refuseShared(in section: Section) {
        guard hasOtherApps, let directory = section.scalar("directory")?.text,
            !directory.contains(JobPaths.bundleIdPlaceholder)
        else { return }
        problems.report(
            section.place(of: "directory"),
            "is the directory of all apps, which would replace each other's files",
            "write \(JobPaths.bundleIdPlaceholder) into it, such as \(directory)/\(JobPaths.bundleIdPlaceholder)"
        )
    }

    func job(_ root: JobNode) -> JobFile? {
        if let action = root["action"] {
            problems.report(
                action.place,
                "is the section of an action, which this command does not send",
                "use storeledger actions run JOB",
                kind: .configuration
            )
            return nil
        }
        if root.isOfReceiver, let receiver = root["receiver"] {
            problems.report(
                receiver.place,
                "is the only work of this job, which has no streams",
                "storeledger receive JOB runs it",
                kind: .configuration
            )
            return nil
        }
        let keys = [
            "version", "name", "app", "appStore", "transactionIds", "streams", "limits", "output", "notify",
            "retention", "receiver",
        ]
        guard let file = Section(root, keys: keys, problems: problems, paths: paths) else { return nil }
        let version = file.integer("version", in: 1...1, "it must be 1", isRequired: true)
        let name = jobName(file)
        // Without a valid app section, the other parts are checked as for Production, to report their problems too.
        let app = app(file)
        let environment = app?.environment ?? .production
        let appStore = appStore(file, environment)
        let transactionIds = transactionIds(file)
        let streams = streams(file, environment)
        let limits = limits(file, environment, isLoopback: appStore?.isLoopback ?? true)
        let output = output(file, inputs: inputs(transactionIds, streams, appStore))
        let notify = notify(file)
        let retention = retention(file)
        let receiver = receiver(file)
        if let streams {
            crossCheck(file, streams, limits, environment)
            checkChangedSince(file, transactionIds, streams)
        }
        guard problems.isEmpty, let version, let name, let app, let appStore, let streams, let output else {
            return nil
        }
        return JobFile(
            path: path,
            version: Int(version),
            name: name,
            app: app,
            appStore: appStore,
            transactionIds: transactionIds,
            streams: streams,
            limits: limits,
            output: output,
            notify: notify,
            retention: retention,
            receiver: receiver,
            warnings: warnings
        )
    }

    func jobName(_ file: Section) -> String? {
        file.text(
            "name",
            "it must be 1 to 63 of a-z, 0-9 and -, and not begin with -, such as nightly-sync",
            isRequired: true,
            where: isName
        )
    }

    /// The warnings so far, one sentence each.
    var warnings: [String] {
        problems.warnings.map { "\(path)\($0.place.suffix): \($0.place.keyPath) \($0.sentence)" }
    }

    /// Reports streams without a source of IDs, and limits that allow less than one request.
    private func crossCheck(
        _ file: Section,
        _ streams: JobStreams,
        _ limits: JobLimits,
        _ environment: AppStoreEnvironment
    ) {
        if streams.all.contains(where: \.items.needsTransactionIDs), !file.has("transactionIds") {
            let others = AllStreams.withoutTransactionIDs
            file.report(
                "transactionIds",
                "only \(others.dropLast().joined(separator: ", ")), and \(others.last ?? ""), need none"
            )
        }
        for stream in streams.names {
            let allowed = limits.allowedRate(of: stream, in: environment) * Double(limits.windowSeconds)
            guard allowed < 1 else { continue }
            problems.report(
                file.place(of: "limits"),
                "allows \(stream.rawValue) less than one request in \(limits.windowSeconds) seconds",
                "raise share or requestsPerSecond"
            )
        }
    }

    /// Every file that the job reads: the key that names it, and its absolute path.
    private func inputs(
        _ source: TransactionIDSource?,
        _ streams: JobStreams?,
        _ appStore: JobFile.AppStore?
    ) -> [(String, String)] {
        var inputs = [("the job file", paths.jobFile)]
        if case .csv(let path, _) = source?.list { inputs.append(("transactionIds.csv.path", path)) }
        for stream in streams?.all ?? [] {
            guard case .csv(let path, _) = stream.ownList?.list else { continue }
            inputs.append(("streams.\(stream.name.rawValue) csv.path", path))
        }
        return inputs + (appStore?.inputs ?? [])
    }

    private func isName(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count) && !text.hasPrefix("-")
            && text.utf8.allSatisfy { isLowercaseOrDigit($0) || $0 == UInt8(ascii: "-") }
    }
}
