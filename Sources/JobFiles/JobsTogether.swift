import AppStoreModel
package import Basics
import JobSyntax

/// Jobs of one command line that cannot work together; the sentence names both.
package struct JobsConflict: ExplainedError, Equatable, Sendable {
    package let sentence: String
    package var status: ExitStatus { .badInput }
}

/// Checks the jobs of one command line, which can come from several files.
///
/// - Throws: ``JobsConflict`` if two are of the same app, or write into the same directory.
package func checkTogether(_ jobs: [JobFile]) throws(JobsConflict) {
    try refuseRepeatedApps(jobs.map { ($0.app, $0.path) })
    var directories: [String: JobFile] = [:]
    for job in jobs {
        for output in job.output.files {
            if let other = directories.updateValue(job, forKey: output.directory) {
                throw JobsConflict(
                    sentence:
                        "\(output.directory) is the directory of \(other.app.bundleId) in \(other.path) and of \(job.app.bundleId) in \(job.path), which would replace each other's files; choose another directory"
                )
            }
        }
    }
}

/// Checks the jobs of one receiver.
///
/// - Parameter listen: The address of the command line, which replaces `receiver.listen` of the jobs; `nil` without one.
/// - Throws: ``JobsConflict`` if two are of the same app, or listen on other addresses.
package func checkTogether(_ jobs: [ReceiverJob], listen: ListenAddress?) throws(JobsConflict) {
    try refuseRepeatedApps(jobs.map { ($0.app, $0.path) })
    guard listen == nil, let other = jobs.first(where: { $0.receiver.listen != jobs[0].receiver.listen }) else {
        return
    }
    throw JobsConflict(
        sentence:
            "\(jobs[0].path) listens on \(jobs[0].receiver.listen) and \(other.path) on \(other.receiver.listen); write the same receiver.listen into both, or start another receiver"
    )
}

private func refuseRepeatedApps(_ jobs: [(app: JobFile.App, path: String)]) throws(JobsConflict) {
    var paths: [String: String] = [:]
    for (app, path) in jobs {
        let name = "\(app.bundleId) (\(app.environment.rawValue))"
        guard let other = paths.updateValue(path, forKey: name.lowercased()) else { continue }
        throw JobsConflict(
            sentence:
                "\(name) is in \(other) and in \(path); name each app once, and start another process for its other job"
        )
    }
}
