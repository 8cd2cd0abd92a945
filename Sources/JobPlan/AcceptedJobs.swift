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
    /// - Returns: The job, with every default filled in.
    /// - Throws: One error with all problems of the file.
    package func load(path: String, environment: [String: String]) throws(JobFileError) -> Content {
        try parse(try JobFileText.read(path: path), path: path, environment: environment)
    }

    /// Checks the text of a job file, as ``load(path:environment:)`` does.
    ///
    /// - Parameter path: Where the file is or will be; relative paths in it begin in its folder.
    package func parse(
        _ text: String,
        path: String,
        environment: [String: String]
    ) throws(JobFileError) -> Content {
        let problems = Problems()
        let reader = JobFileReader(path: path, problems: problems)
        let document = YAMLDocument(text: text, environment: environment, problems: problems)
        let content = document.root(only: sections).flatMap { read(reader, $0) }
        if let error = problems.error(path: path) { throw error }
        guard let content else { preconditionFailure("a job file was refused without a reason") }
        return content
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
