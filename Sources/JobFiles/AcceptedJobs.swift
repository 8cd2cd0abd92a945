package import JobSyntax

/// The job files that a command accepts, and what it reads of them.
package struct AcceptedJobs<Content> {
    /// The keys at the top of the file that are read; `nil` for all.
    private var sections: [String]?
    /// Reads the document's root; `nil` after it has reported a problem.
    private let read: (JobFileReader, JobNode) -> Content?

    /// Reads and checks a job file.
    ///
    /// Opens no other file and sends nothing.
    ///
    /// - Parameters:
    ///   - path: The path of the file. Messages show it unchanged.
    ///   - environment: The environment variables for `${NAME}`.
    /// - Returns: The job of each app of the file, at least one, with every default filled in.
    /// - Throws: One error with all problems of the file.
    package func loadEach(path: String, environment: [String: String]) throws(JobFileError) -> [Content] {
        try parseEach(try JobFileText.read(path: path), path: path, environment: environment)
    }

    /// Reads and checks the job file of one app, as ``loadEach(path:environment:)`` does.
    package func load(path: String, environment: [String: String]) throws(JobFileError) -> Content {
        try parse(try JobFileText.read(path: path), path: path, environment: environment)
    }

    /// Checks the text of a job file of one app.
    package func parse(
        _ text: String,
        path: String,
        environment: [String: String]
    ) throws(JobFileError) -> Content {
        let jobs = try parseEach(text, path: path, environment: environment)
        if jobs.count > 1 {
            let problems = Problems()
            problems.report(Place.wholeFile.missing("apps"), "names \(jobs.count) apps", "it must name one app here")
            if let error = problems.error(path: path) { throw error }
        }
        return jobs[0]
    }

    /// Checks the text of a job file, as ``loadEach(path:environment:)`` does.
    ///
    /// - Parameter path: Where the file is or will be; relative paths in it begin in its folder.
    package func parseEach(
        _ text: String,
        path: String,
        environment: [String: String]
    ) throws(JobFileError) -> [Content] {
        let problems = Problems()
        let document = YAMLDocument(text: text, environment: environment, problems: problems)
        let root = document.root(only: sections.map { $0 + ["apps", "environment"] })
        let roots = root.map { JobApps(problems: problems).roots(of: $0) } ?? []
        let jobs = roots.compactMap { root in
            let reader = JobFileReader(
                path: path,
                problems: problems,
                bundleId: root["app"]?["bundleId"]?.scalar?.text,
                hasOtherApps: roots.count > 1
            )
            return read(reader, root)
        }
        if let error = problems.error(path: path) { throw error }
        precondition(!jobs.isEmpty && jobs.count == roots.count, "a job file was refused without a reason")
        return jobs
    }
}

extension AcceptedJobs<JobFile> {
    package static var crawl: Self { Self { $0.job($1) } }
}

extension AcceptedJobs<ActionJob> {
    package static var action: Self { Self { $0.actionJob($1) } }
}

extension AcceptedJobs<ReceiverJob> {
    /// A receiver, in a separate job or in the job of a crawl.
    package static var receiver: Self {
        Self { reader, root in
            switch reader.crawlOrReceiver(root) {
            case .crawl(let job): ReceiverJob(job)
            case .receiver(let job): job
            case .action, nil: nil
            }
        }
    }
}

extension AcceptedJobs<Job> {
    package static var any: Self {
        Self { reader, root in
            root["action"] != nil ? reader.actionJob(root).map(Job.action) : reader.crawlOrReceiver(root)
        }
    }

    package static var crawlOrReceiver: Self { Self { $0.crawlOrReceiver($1) } }
}

extension AcceptedJobs<SignerJob> {
    package static var signer: Self { Self(sections: JobFileReader.signerKeys) { $0.signerJob($1) } }
}

extension JobFileReader {
    fileprivate func crawlOrReceiver(_ root: JobNode) -> Job? {
        // Only the job of a valid action is refused as one; otherwise its own problems are reported.
        if root["action"] != nil, actionJob(root) == nil { return nil }
        return root.isOfReceiver ? receiverJob(root).map(Job.receiver) : job(root).map(Job.crawl)
    }
}
