import Actions
import AppStoreModel
import Basics
import JobFiles

/// What `actions plan` shows of a batch.
struct BatchSummaryText {
    private let summary: BatchSummary
    private let job: ActionJob
    private let path: String

    init(_ summary: BatchSummary, of job: ActionJob, path: String) {
        self.summary = summary
        self.job = job
        self.path = path
    }

    func show(json: Bool) throws {
        if json { return Console.result(try JSONOutput.document(document)) }
        lines.forEach(Console.result)
    }

    private var batch: ActionBatch { summary.batch }

    /// The characters of a request's body that the text shows.
    private static let shownCharacters = 8_000

    /// The shortest times to send the rows, in seconds: at Apple's limit, and at the job's share of it.
    ///
    /// Each endpoint has a separate limit, so the slowest one counts.
    private var seconds: (atLimit: Double, atShare: Double) {
        let times = summary.rowsByEndpoint.compactMap { endpoint, rows in
            job.limits.requestsPerSecond[endpoint].map { Double(rows) / $0 }
        }
        let longest = times.max() ?? 0
        return (longest, longest / job.limits.share)
    }

    private var lines: [String] {
        var lines = ["\(job.name): batch \(batch.sha256)"]
        if let inputRows = summary.inputRows {
            lines.append("  \(counted(inputRows, "row")) of the input, as one row for each report:")
        }
        lines.append("  \(counted(batch.rows, "row")), \(batch.rowsToSend) to send")
        lines += PriceChangeText(summary.prices).lines
        lines += summary.rules.map { rule in
            "  \(rule.verdict), \(rule.rule): \(rule.rows) (such as: \(rule.example))"
        }
        lines += summary.remarks.map { "  \($0)" }
        lines += summary.money.map { money in
            "  at stake: \(Self.amount(money.milliunits)) \(money.currency) in \(counted(money.rows, "row"))"
        }
        if let consent = summary.consent, batch.rowsToSend > 0 {
            lines.append(
                "  consent: Apple requires it for \(counted(consent.required, "row")), not for \(consent.notRequired); unknown for \(consent.unknown)"
            )
        }
        if batch.rowsToSend > 0 {
            let share = Int((job.limits.share * 100).rounded())
            lines.append(
                "  takes at least \(words(seconds.atLimit)) at Apple's limit, \(words(seconds.atShare)) at the job's share of \(share)%"
            )
        }
        lines += summary.requests.map { request in
            "  \(Self.method(request)) \(request.target) \(Self.body(request))"
        }
        return lines + [next]
    }

    /// What to do next.
    private var next: String {
        if batch.rowsToSend == 0 { return "No row would be sent" }
        if let maximum = job.approval.maximumRows, batch.rowsToSend > maximum {
            let remedy = "Split the input, or raise the limit in the job file"
            return "More rows than approval.maximumRows (\(maximum)): the batch cannot be sent. \(remedy)"
        }
        guard batch.requiresApproval else {
            return namingJob(path, in: "No approval is required. Send it: storeledger actions run JOB")
        }
        return namingJob(
            path,
            in: "Approve it: storeledger actions approve JOB --batch \(batch.sha256) --rows \(batch.rowsToSend)"
        )
    }

    /// Rounded up, because a run takes at least this long.
    private func words(_ seconds: Double) -> String { Duration.seconds(seconds).inWords(rounded: .up) }

    /// A number of thousandths as a decimal number, rounded to two decimals.
    static func amount(_ milliunits: Int64) -> String {
        let hundredths = (milliunits + 5) / 10
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
    }

    /// The JSON of a request; of an image, the name of its file.
    private static func body(_ request: AppStoreRequest) -> String {
        request.file?.name ?? printable(String(decoding: request.body ?? [], as: UTF8.self), limit: shownCharacters)
    }

    private static func method(_ request: AppStoreRequest) -> String {
        switch request.method {
        case .get: "GET"
        case .post: "POST"
        case .put: "PUT"
        case .delete: "DELETE"
        }
    }
}

extension BatchSummaryText {
    /// The form of `--json`; documented in docs/reference/json.md.
    private struct Document: Encodable {
        struct Price: Encodable {
            let sku: String, currency: String?, oldMilliunits: Int64?, newMilliunits: Int64, rows: Int64
        }
        struct Rule: Encodable { let verdict, rule: String, rows: Int64, example: String }
        struct Money: Encodable { let currency: String, rows, milliunits: Int64 }
        struct Consent: Encodable { let required, notRequired, unknown: Int64 }
        struct Request: Encodable { let method, path, body: String }
        let job, batch, action: String
        let rows, rowsToSend: Int64
        let prices: [Price]
        let approvalRequired: Bool
        let rules: [Rule]
        let money: [Money]
        let consent: Consent?
        let secondsAtAppleLimit, secondsAtShare: Double
        let requests: [Request]
        let remarks: [String]
    }

    private var document: Document {
        Document(
            job: job.name,
            batch: batch.sha256,
            action: batch.action.rawValue,
            rows: batch.rows,
            rowsToSend: batch.rowsToSend,
            prices: summary.prices.map {
                .init(
                    sku: $0.sku,
                    currency: $0.currency,
                    oldMilliunits: $0.oldPrice,
                    newMilliunits: $0.newPrice,
                    rows: $0.rows
                )
            },
            approvalRequired: batch.requiresApproval,
            rules: summary.rules.map { .init(verdict: $0.verdict, rule: $0.rule, rows: $0.rows, example: $0.example) },
            money: summary.money.map { .init(currency: $0.currency, rows: $0.rows, milliunits: $0.milliunits) },
            consent: summary.consent.map {
                .init(required: $0.required, notRequired: $0.notRequired, unknown: $0.unknown)
            },
            secondsAtAppleLimit: seconds.atLimit,
            secondsAtShare: seconds.atShare,
            requests: summary.requests.map {
                .init(method: Self.method($0), path: $0.target, body: Self.body($0))
            },
            remarks: summary.remarks
        )
    }
}
