import AppStoreModel
import JobFiles
import JobSyntax
import Streams

extension FuzzTarget {
    /// A job file: a job within its limits, or errors that each say where, and none of them a secret.
    static let jobFile = FuzzTarget(name: "job-file", longestInput: 4_096) { input in
        do {
            try withFile(of: input) { try check(AcceptedJobs.crawl.load(path: $0, environment: environment)) }
        } catch let error as JobFileError {
            try check(error, of: input)
        }
    }

    private static let secret = "n0t-to-be-seen"
    private static let environment = [
        "DATABASE_URL": "postgresql://storeledger:\(secret)@localhost/storeledger", "SECRET": secret, "EMPTY": "",
        "APPSTORE_KEY_ID": "ABC123DEFG", "APPSTORE_ISSUER_ID": "57246542-96fe-1a63-e053-0824d011072a",
        "APPSTORE_PRIVATE_KEY_FILE": "key.p8",
    ]

    private static func check(_ error: JobFileError, of input: [UInt8]) throws {
        let lines = input.count { $0 == 0x0A } + input.count { $0 == 0x0D } + input.count
        try promise(!error.problems.isEmpty, "refused without a reason")
        for problem in error.problems {
            let isWhole = problem.keyPath == "the job file"
            try promise(isWhole || (problem.line != nil && problem.column != nil), "no place for \(problem)")
            try promise((1...lines + 1).contains(problem.line ?? 1), "line \(problem.line ?? 0) of \(lines)")
            try promise((problem.column ?? 1) >= 1, "column \(problem.column ?? 0)")
        }
        let text = error.description
        // The fuzzer sees what is compared, so it writes the secret into job files too; their own text may be shown.
        let isOfTheFile = String(decoding: input, as: UTF8.self).contains(secret)
        try promise(isOfTheFile || !text.contains(secret), "a message shows a value of the environment: \(text)")
        let control = text.unicodeScalars.first { $0 != "\n" && $0.properties.generalCategory == .control }
        try promise(control == nil, "a message holds a control character")
        try promise(text.split(separator: "\n").count == error.problems.count, "not a line for each problem: \(text)")
    }

    private static func check(_ job: JobFile) throws {
        let now = FuzzedStore.now
        try promise((1...256).contains(job.limits.concurrency), "concurrency \(job.limits.concurrency)")
        try promise(job.limits.share > 0 && job.limits.share <= 1, "share \(job.limits.share)")
        try promise((10...3_600).contains(job.limits.windowSeconds), "window \(job.limits.windowSeconds)")
        try promise(!job.streams.names.isEmpty, "no stream")
        try promise(
            job.appStore.isLoopback || job.appStore.baseURL == job.app.environment.baseURL,
            "requests would go to \(job.appStore.baseURL)"
        )
        try promise(job.appStore.isLoopback || job.appStore.trustedRoots.isEmpty, "foreign roots for Apple's host")
        for stream in job.streams.names {
            let rate = job.limits.allowedRate(of: stream, in: job.app.environment)
            try promise(
                rate > 0 && rate <= AllStreams.requestsPerSecond(of: stream, in: job.app.environment)
                    || job.appStore.isLoopback,
                "\(rate) requests a second of \(stream)"
            )
            _ = job.queryFingerprint(for: stream)
        }
        for dates in job.streams.all.compactMap(\.dates) {
            let requested = dates.span(now: now, lastRun: nil, in: job.app.environment).requested
            _ = NotificationWindows.slices(from: requested.lowerBound, to: requested.upperBound)
            _ = dates.countLaterWindows(now: now, lastRun: now - .seconds(3_600), in: job.app.environment)
        }
        if case .list(let ids) = job.transactionIds?.list {
            for id in ids { try promise(TransactionID(id) != nil, "an ID \(id)") }
        }
    }
}
