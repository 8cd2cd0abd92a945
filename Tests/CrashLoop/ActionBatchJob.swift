import FoundationEssentials
import TestSupport

/// A job file with an action, and the batch that was planned of it.
struct ActionBatchJob: Sendable {
    enum Action: Sendable {
        case extend(days: Int)
        /// The token of a row is the prefix and the last 12 digits of its ID.
        case setToken(prefix: String)
        case finish
        case commerce(CommerceCall)
        /// Answers to refund requests by a policy that prefers this decision.
        case answer(preference: String)

        /// As the simulator names it.
        var endpoint: String {
            switch self {
            case .extend: "extendRenewalDate"
            case .setToken: "setAppAccountToken"
            case .finish: "finishTransaction"
            case .commerce(let call): call.rawValue
            case .answer: "sendConsumptionInformation"
            }
        }

        /// Whether a request has the ID of its row, so that the store applies it once.
        var hasRequestID: Bool {
            switch self {
            case .extend, .commerce: true
            case .setToken, .finish, .answer: false
            }
        }

        /// The codes with which the store refuses the first and the second row each time.
        fileprivate var refusals: (first: Int, second: Int) {
            if case .extend = self { (4_030_007, 4_030_004) } else { (4_030_010, 4_030_010) }
        }

        /// The section `action` of the job file.
        fileprivate var section: String {
            switch self {
            case .extend(let days): "extendRenewalDate: {extendByDays: \(days), extendReasonCode: 3}"
            case .setToken, .finish: "\(endpoint): {}"
            case .commerce(let call): "\(endpoint): \(call.parameters)"
            case .answer(let preference):
                """
                \(endpoint): {customerConsented: true, policy: [{when: {advancedCommerce: true}, answer: none},
                    {answer: {deliveryStatus: DELIVERED, sampleContentProvided: false, refundPreference: \(preference)}}]}
                """
            }
        }

        /// With rows of every verdict; `nil` for answers, because the policy takes the place of an input.
        fileprivate var query: String? {
            switch self {
            case .extend:
                """
                SELECT original_transaction_id FROM transactions UNION ALL SELECT unnest(ARRAY['1', 'x', '']) ORDER BY 1
                """
            case .setToken(let prefix):
                """
                SELECT original_transaction_id, '\(prefix)' || right(original_transaction_id, 12) AS app_account_token FROM transactions
                 WHERE abs(hashtext(original_transaction_id)) % 3 = 0 ORDER BY 1
                """
            case .finish: "SELECT transaction_id FROM transactions ORDER BY 1 LIMIT 30"
            case .commerce(let call): call.query
            case .answer: nil
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
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
        return path
    }

    /// Writes the job file of a crawl.
    ///
    /// - Returns: Its path.
    func writeCrawl() throws -> String {
        var job = JobText(storeJob: try String(contentsOfFile: store.directory + "/job.yaml", encoding: .utf8))
        job.name = "crawl"
        job.streams = ["transactionHistory: {}", "notificationHistory: {scope: app, startDate: -2d}"]
        if plan.hasCommerce {
            // The plan checks the newest renewal info of every subscription.
            job.streams.append("subscriptionStatuses: {}")
            job.limits = """
                {concurrency: 8, share: 1, requestsPerSecond: {transactionHistory: 100000, subscriptionStatuses: 100000,
                   notificationHistory: 100000}}
                """
        }
        return try write(job.text, to: "crawl.yaml")
    }

    /// Writes the job file of the next batch.
    mutating func nextJob() throws -> ActionBatchJob {
        jobs += 1
        return try write(plan.action(of: batchNumber), to: "batch-\(jobs)")
    }

    /// Writes the job file of a batch.
    func write(_ action: ActionBatchJob.Action, to name: String) throws -> ActionBatchJob {
        // A short window makes the times short in which Apple's data must show an effect.
        let limits = """
            {share: 1, concurrency: \(plan.concurrency), windowSeconds: 10,
               requestsPerSecond: {\(action.endpoint): 100000, subscriptionStatuses: 100000, transactionInfo: 100000}}
            """
        let query = action.query.map { query in
            "input:\n  query: |\n" + query.split(separator: "\n").map { "    \($0.trimmed)" }.joined(separator: "\n")
        }
        let text = """
            version: 1
            name: \(name)
            \(try storeSections())
            action:
              \(action.section)
            \(query ?? "")
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
    /// Of the rows whose request has an ID, the store refuses the first one each time. The second one is never applied, and its
    /// first request is answered with 500, so that only signed data shows the outcome.
    func setFaults(_ mood: Mood) async throws {
        let action = try current.action
        func rule(_ fault: String) -> String { #"{"endpoint": "\#(action.endpoint)", \#(fault)}"# }
        var rules: [String] = []
        if action.hasRequestID {
            let ids = try await hopeless()
            let (first, second) = (action.refusals.first, action.refusals.second)
            rules.append(
                rule(#""transactionId": "\#(ids[0])", "fault": "status", "status": 403, "errorCode": \#(first)"#)
            )
            let never = #""transactionId": "\#(ids[1])", "fault": "status""#
            rules.append(rule(#"\#(never), "atRequest": 1, "status": 500"#))
            rules.append(rule(#"\#(never), "status": 403, "errorCode": \#(second)"#))
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
                #"{"endpoint": "transactionInfo", "everyNth": 5, "fault": "status", "status": 500}"#,
            ]
        }
        if case .slow(let milliseconds) = mood {
            rules.append(rule(#""everyNth": 2, "fault": "delay", "milliseconds": \#(milliseconds)"#))
        }
        if case .commerce = action {
            // Apple lists 4000097 for four of the calls, and the store answers them so without a rule.
            if plan.refusesEveryRepeat { rules.append(rule(#""fault": "refuseRepeat", "errorCode": 4000097"#)) }
        } else {
            rules.append(rule(#""fault": "refuseRepeat""#))
        }
        try await store.setFaults("{\"rules\": [\(rules.joined(separator: ", "))]}")
    }

    /// What the first two rows of the current batch change, which the store never applies.
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
