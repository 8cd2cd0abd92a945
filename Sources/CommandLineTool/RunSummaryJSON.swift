import AppStoreModel
import Basics
import JobFiles
import Ledger
import Pipeline
import Publish

/// `run --json` and `retry --json`; documented in `docs/reference/json.md` and stable.
struct RunSummaryJSON: Encodable {
    private struct Files: Encodable {
        let directory: String
        let files: [Manifest.File]
    }

    private let job: String
    private let app: String
    private let environment: String
    private let run: Int64
    private let exitCode: Int32
    private let joined: Bool
    private let counts: RunCountsJSON
    private let waitedForLimitsSeconds: Double
    private let elapsedSeconds: Double
    private let csv: Files?
    private let parquet: Files?
    private let viewsFailure: String?
    private let removed: [OldRecords]?

    init(_ report: SessionResult, of job: JobFile) {
        self.job = job.name
        app = job.app.bundleId
        environment = job.app.environment.rawValue
        run = report.summary.run
        exitCode = report.exitStatus.rawValue
        joined = report.joined
        counts = RunCountsJSON(report.summary)
        waitedForLimitsSeconds = Self.seconds(report.waitedForLimits)
        elapsedSeconds = Self.seconds(report.elapsed)
        csv = Self.files(.csv, of: report)
        parquet = Self.files(.parquet, of: report)
        viewsFailure = report.viewsFailure
        removed = report.removed.isEmpty ? nil : report.removed
    }

    private static func files(_ format: FileFormat, of report: SessionResult) -> Files? {
        report.published.first { $0.output.format == format }.map {
            Files(directory: $0.output.directory, files: $0.files)
        }
    }

    /// Rounded to milliseconds.
    private static func seconds(_ duration: Duration) -> Double { (duration / .milliseconds(1)).rounded() / 1_000 }
}

/// `run --if-older-than TIME --json` if no run was necessary.
struct RecentRunJSON: Encodable {
    let job: String
    let app: String
    let environment: String
    let skipped = true
    let run: Int64
    let exitCode: Int64
    let startedAt: String
    let finishedAt: String

    init(_ recent: RecentRun, job: JobFile) {
        self.job = job.name
        app = job.app.bundleId
        environment = job.app.environment.rawValue
        run = recent.run
        exitCode = recent.exitCode
        startedAt = recent.startedAt
        finishedAt = recent.finishedAt
    }
}

/// An app in `run --json` of several whose run has failed, or had nothing to do.
struct RunlessAppJSON: Encodable {
    let job: String
    let app: String
    let environment: String
    let exitCode: Int32
    let message: String

    init(_ job: JobFile, status: ExitStatus, message: String? = nil) {
        self.job = job.name
        app = job.app.bundleId
        environment = job.app.environment.rawValue
        exitCode = status.rawValue
        self.message = message ?? status.meaning
    }
}
