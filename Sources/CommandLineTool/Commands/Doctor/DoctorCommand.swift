import AppStoreModel
import ArgumentParser
import Basics
import JobFiles
import Pipeline

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
        try await perform(job: job.path, onlyReads: true) {
            let files = try job.loadEach(.any)
            Console.result("ok    job file: \(job.path)")
            try await job.forEach(files) { file in
                if files.count > 1 { Console.result("\(file.app.bundleId) (\(file.app.environment.rawValue))") }
                try await check(file)
            }
        }
    }

    private func check(_ file: Job) async throws {
        let address = try LedgerAddress(of: file)
        let diagnostics: Diagnostics
        switch file {
        case .crawl(let crawl):
            diagnostics = Diagnostics(server: crawl.appStore.baseURL, path: job.path)
            try await job.pipelines(of: [crawl])[0].check(diagnostics)
        case .action(let action):
            diagnostics = Diagnostics(server: action.appStore.baseURL, path: job.path)
            await ActionPipeline(job: action, at: address).check(diagnostics)
        case .receiver(let receiver):
            diagnostics = Diagnostics(server: receiver.baseURL, path: job.path)
            await ReceiverPipeline(job: receiver, at: address).check(diagnostics)
        }
        if let failure = diagnostics.failure { throw ExitCode(failure.rawValue) }
    }
}
