import ArgumentParser
import JobPlan
import Pipeline
import Synchronization

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check everything a run needs and say what to fix.",
        discussion: """
            Checks libraries, key, roots, ID lists, database, schema, app, job name and
            clocks, and sends one request to Apple. Lines that begin with FAIL say what to
            do. The exit code is the one that a run would end with.

            For a job with an action, it also checks the role, and what actions run would
            send. For the job of a receiver alone, it checks the role, and says when a
            notification was last received; it sends nothing.

              storeledger doctor jobs/nightly-sync.yaml
              storeledger doctor jobs/extend-after-outage.yaml
              storeledger doctor receiver.yaml
            """
    )

    @OptionGroup var job: JobArgument

    func run() async throws {
        try await perform(job: job.path) {
            let worst = Mutex<Int32>(0)
            let path = job.path
            let show: @Sendable (Diagnostic) -> Void = { check in
                let mark = check.passed ? "ok   " : "FAIL "
                Console.result("\(mark) \(check.subject): \(namingJob(path, in: check.finding))")
                worst.withLock { if $0 == 0 { $0 = check.exitCode } }
            }
            let file = try job.load(.any)
            let address = try LedgerAddress(of: file)
            Console.result("ok    job file: \(path)")
            switch file {
            case .crawl(let crawl): try await job.pipeline(of: crawl).doctor(show)
            case .action(let action): await ActionPipeline(job: action, at: address).doctor(show)
            case .receiver(let receiver): await ReceiverPipeline(job: receiver, at: address).doctor(show)
            }
            let code = worst.withLock { $0 }
            if code != 0 { throw ExitCode(code) }
        }
    }
}
