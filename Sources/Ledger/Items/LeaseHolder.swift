import AppStoreModel
import Basics
package import LedgerSchema
import Postgres
import Streams

/// A process that works on a run, as the owner of leases.
package struct LeaseHolder: Sendable {
    package let app: AppID
    package let job: String
    package let run: Int64
    /// 16 random bytes; a new process is a new owner.
    package let owner: [UInt8]

    /// How long a lease lasts without a heartbeat.
    ///
    /// A dead worker's items are taken over after this time.
    package static let leaseLife = leaseTime(.seconds(60))
    /// How often a live process renews its leases.
    package static let heartbeatInterval = leaseTime(.seconds(15))
    /// How long after requesting a lease the process may rely on it.
    ///
    /// The rest of the lease allows for a slow answer.
    package static let trustedLife = leaseTime(.seconds(45))

    package init(app: AppID, job: String, run: Int64) {
        self.app = app
        self.job = job
        self.run = run
        var random = SystemRandomNumberGenerator()
        owner = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// Parameters 1 to 4 of every statement about one item: app, job, stream, key.
    func key(of item: WorkItem) -> [Cell] {
        [.integer(app.rawValue), .text(job), .text(item.stream.rawValue), .text(item.key)]
    }
}
