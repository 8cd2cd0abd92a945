import AppStoreModel
import Hashing
import LedgerSchema
import Normalize
import SignedData
import Streams
import StrictJSON
import Synchronization

/// The work that is timed: all of it, and each part of it by itself.
struct VerifyStages: Sendable {
    /// Records a second, of one thread.
    struct Rate {
        let perCPUSecond: Double
        /// Of all threads together.
        let perSecond: Double
    }

    /// Microseconds of processor time a record.
    struct Parts {
        let signature: Double
        let base64: Double
        let json: Double
        let verification: Double
        /// Not a part of the whole: reading the answer that brought the record.
        let page: Double
    }

    private let history: SignedHistory
    private let passes: Int
    /// What is hashed for each record, and a signature of it by one key.
    private let signed: [(message: [UInt8], signature: [UInt8])]
    private let segments: [[UInt8]]
    /// Answers of 20 transactions.
    private let bodies: [[UInt8]]

    init(_ history: SignedHistory, work: Int) {
        self.history = history
        passes = max(1, work / history.jws.count)
        segments = history.payloads.map { Base64.encodeURL($0) }
        bodies = history.pages.map { page in
            let texts = page.records.map { record in
                guard case .transaction(let jws) = record else { fatalError("a history of transactions") }
                return "\"\(jws)\""
            }
            let list = texts.joined(separator: ",")
            return Array(#"{"revision":"r","hasMore":true,"signedTransactions":[\#(list)]}"#.utf8)
        }
        // The header is hashed once for all records under it, so it is no part of what a record costs.
        signed = segments.prefix(500).map { message in
            guard let signature = try? history.key.signature(of: message) else { fatalError("OpenSSL cannot sign") }
            return (message, signature)
        }
    }

    /// Pages as they come, through the normalizer, to rows.
    ///
    /// Each thread takes the next page when it has done one, as a crawl does, so no page is in two hands at a time, and what a
    /// thread does not get to while the machine stops it, the others do.
    func whole(threads: Int = 1) -> Rate {
        let turns = passes * threads * history.pages.count
        let taken = Atomic(0)
        let rows = Atomic(0)
        let lap = WorkTimer.time(threads: threads) {
            var turn = taken.add(1, ordering: .relaxed).oldValue
            while turn < turns {
                let page = history.pages[turn % history.pages.count]
                let made = Normalizer.normalize(
                    history.recordVerifier.verify(page, from: .transactionHistory, item: "1", now: SignedHistory.now)
                )
                rows.add(made.snapshots.count, ordering: .relaxed)
                turn = taken.add(1, ordering: .relaxed).oldValue
            }
        }
        let missing = records * threads - rows.load(ordering: .relaxed)
        precondition(missing == 0, "\(missing) records did not become rows")
        return Rate(perCPUSecond: Double(records) / lap.cpu, perSecond: Double(records * threads) / lap.wall)
    }

    func parts() -> Parts {
        let publicKey = history.key.publicKey
        return Parts(
            signature: microseconds(signed) {
                ES256.verify(signature: $0.signature, message: $0.message, publicKey: publicKey)
            },
            base64: microseconds(segments) { Base64.decodeURL($0.span) != nil },
            json: microseconds(history.payloads) { (try? StrictJSON.scan($0)) != nil },
            verification: microseconds(history.jws) {
                (try? history.verifier.verify($0, now: SignedHistory.now)) != nil
            },
            page: microseconds(bodies) { (try? TransactionHistory.page($0))?.hasMore == true }
                * Double(bodies.count) / Double(history.jws.count)
        )
    }

    private var records: Int { passes * history.jws.count }

    private func microseconds<Element: Sendable>(
        _ elements: [Element],
        _ isDone: @Sendable (Element) -> Bool
    ) -> Double {
        let passes = max(1, records / 2 / elements.count)
        let lap = WorkTimer.time {
            for _ in 0..<passes {
                for element in elements { precondition(isDone(element), "a part failed") }
            }
        }
        return lap.cpu * 1e6 / Double(passes * elements.count)
    }
}
