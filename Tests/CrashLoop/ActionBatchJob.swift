import FoundationEssentials
import TestSupport

/// A job file with an action, and the batch that was planned of it.
struct ActionBatchJob: Sendable {
    enum Action: Sendable {
        case extend(days: Int)
        case setToken(String)
        case finish

        /// As the simulator names it.
        var endpoint: String {
            switch self {
            case .extend: "extendRenewalDate"
            case .setToken: "setAppAccountToken"
            case .finish: "finishTransaction"
            }
        }

        /// The section `action` of the job file.
        fileprivate var section: String {
            switch self {
            case .extend(let days): "extendRenewalDate: {extendByDays: \(days), extendReasonCode: 3}"
            case .setToken, .finish: "\(endpoint): {}"
            }
        }

        /// With rows of every verdict.
        fileprivate var query: String {
            switch self {
            case .extend:
                """
                SELECT original_transaction_id FROM transactions UNION ALL SELECT unnest(ARRAY['1', 'x', '']) ORDER BY 1
                """
            case .setToken(let token):
                """
                SELECT original_transaction_id, '\(token)' AS app_account_token FROM transactions
                 WHERE abs(hashtext(original_transaction_id)) % 3 = 0 ORDER BY 1
                """
            case .finish: "SELECT transaction_id FROM transactions ORDER BY 1 LIMIT 30"
            }
        }
    }

    let name: String
    let path: String
    let action: Action
    private(set) var hash = ""
    private(set) var rows = 0
    private(set) var rowsToSend = 0

    init(name: String, path: String, action: Action) {
        self.name = name
        self.path = path
        self.action = action
    }

    /// With what `actions plan --json` printed.
    func planned(_ output: String) throws -> ActionBatchJob {
        struct Plan: Decodable { let batch: String, rows: Int, rowsToSend: Int }
        let plan = try JSONDecoder().decode(Plan.self, from: Data(output.utf8))
        var planned = self
        (planned.hash, planned.rows, planned.rowsToSend) = (plan.batch, plan.rows, plan.rowsToSend)
        return planned
    }
}

extension ActionRound {
    private func storeSections() throws -> String {
        JobText(storeJob: try String(contentsOfFile: store.directory + "/job.yaml", encoding: .utf8)).store
    }

    private func write(_ text: String, to name: String) throws -> String {
        let path = store.directory + "/" + name
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    /// Writes the job file of a crawl.
    ///
    /// - Returns: Its path.
    func writeCrawl() throws -> String {
        var job = JobText(storeJob: try String(contentsOfFile: store.directory + "/job.yaml", encoding: .utf8))
        job.name = "crawl"
        job.streams = ["transactionHistory: {}", "notificationHistory: {scope: app, startDate: -2d}"]
        return try write(job.text, to: "crawl.yaml")
    }

    /// Writes the job file of the next batch.
    func nextJob() async throws -> ActionBatchJob {
        let number = batches.count
        // Apple extends a subscription twice, so later batches are of the other actions.
        let token = "00000000-0000-4000-8000-" + String("000000000000\(plan.seed)\(number)".suffix(12))
        let actions: [ActionBatchJob.Action] = [
            .extend(days: 7), .setToken(token), .extend(days: 3), .finish, .setToken(token),
        ]
        let action = number < actions.count ? actions[number] : number.isMultiple(of: 2) ? .finish : .setToken(token)
        let name = "batch-\(number + 1)"
        // A short window makes the times short in which Apple's data must show an effect.
        let limits = """
            {share: 1, concurrency: \(plan.concurrency), windowSeconds: 10,
               requestsPerSecond: {\(action.endpoint): 100000, subscriptionStatuses: 100000, transactionInfo: 100000}}
            """
        let query = action.query.split(separator: "\n").map { "    \($0.trimmed)" }.joined(separator: "\n")
        let text = """
            version: 1
            name: \(name)
            \(try storeSections())
            action:
              \(action.section)
            input:
              query: |
            \(query)
            limits: \(limits)
            output:
              postgres: {url: "${DATABASE_URL}"}
              results: {directory: out}

            """
        return ActionBatchJob(name: name, path: try write(text, to: "\(name).yaml"), action: action)
    }

    /// How the store answers.
    enum Mood: Sendable {
        /// It loses answers, fails and refuses repeats.
        case faulty
        /// The same, and slowly.
        case slow(milliseconds: Int)
        /// It answers 429 to the second request.
        case rateLimited
        /// It only refuses repeats.
        case calm
    }

    /// Sets the store's fault rules.
    ///
    /// Of the subscriptions to extend, the store refuses the first one each time. The second one is never applied, and its first
    /// request is answered with 500, so that only signed data shows what became of it.
    func misbehave(_ mood: Mood) async throws {
        let action = try current.action
        func rule(_ fault: String) -> String { #"{"endpoint": "\#(action.endpoint)", \#(fault)}"# }
        var rules: [String] = []
        if case .extend = action {
            let ids = try await hopeless()
            rules.append(
                rule(#""transactionId": "\#(ids[0])", "fault": "status", "status": 403, "errorCode": 4030007"#)
            )
            let second = #""transactionId": "\#(ids[1])", "fault": "status""#
            rules.append(rule(#"\#(second), "atRequest": 1, "status": 500"#))
            rules.append(rule(#"\#(second), "status": 403, "errorCode": 4030004"#))
        }
        switch mood {
        case .calm: break
        case .rateLimited:
            let moment = Int64(Date.now.timeIntervalSince1970 * 1_000) + 1_500
            rules.append(rule(#""atRequest": 2, "fault": "rateLimited", "retryAfter": ["\#(moment)"]"#))
        case .faulty, .slow:
            rules += [
                rule(#""everyNth": 9, "fault": "applyThenDrop""#),
                rule(#""everyNth": 10, "fault": "applyThenStatus", "status": 500"#),
                rule(#""everyNth": 11, "fault": "status", "status": 500"#),
                rule(#""everyNth": 13, "fault": "dropConnection""#),
                #"{"endpoint": "subscriptionStatuses", "everyNth": 5, "fault": "status", "status": 500}"#,
            ]
        }
        if case .slow(let milliseconds) = mood {
            rules.append(rule(#""everyNth": 2, "fault": "delay", "milliseconds": \#(milliseconds)"#))
        }
        rules.append(rule(#""fault": "refuseRepeat""#))
        try await store.misbehave("{\"rules\": [\(rules.joined(separator: ", "))]}")
    }

    /// The first two subscriptions of the current batch, which the store does not extend.
    func hopeless() async throws -> [String] {
        let job = try current.name
        let ids = try await patiently {
            try await book.column(
                """
                SELECT subject FROM action_rows JOIN action_batches USING (app_id, batch_id)
                 WHERE job = '\(job)' AND verdict = 'valid' ORDER BY position LIMIT 2
                """
            )
        }
        guard ids.count == 2 else { throw SetUpFailure(code: 70, sentence: "\(job) has fewer than two rows") }
        return ids
    }
}

extension Substring {
    fileprivate var trimmed: Substring { drop { $0 == " " } }
}
