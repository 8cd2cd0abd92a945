import ArgumentParser
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

              storeledger doctor jobs/nightly-sync.yaml
            """
    )

    @OptionGroup var job: JobArgument

    func run() async throws {
        try await perform(job: job.path) {
            let pipeline = try job.pipeline()
            Console.result("ok    job file: \(job.path)")
            let worst = Mutex<Int32>(0)
            await pipeline.doctor { check in
                let mark = check.passed ? "ok   " : "FAIL "
                Console.result("\(mark) \(check.subject): \(namingJob(job.path, in: check.finding))")
                worst.withLock { if $0 == 0 { $0 = check.exitCode } }
            }
            let code = worst.withLock { $0 }
            if code != 0 { throw ExitCode(code) }
        }
    }
}
