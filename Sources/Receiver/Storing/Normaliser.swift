import Basics
import Ledger
import Postgres

/// Makes records of stored notifications in the background, batch by batch.
struct Normaliser: Sendable {
    /// The most notifications of one transaction.
    static let batch = 200
    /// How long it waits for more notifications after a batch that was not full.
    ///
    /// A batch of a hundred costs little more than a batch of one.
    static let pause = Duration.milliseconds(250)
    /// How long it waits after a failure.
    static let failurePause = Duration.seconds(5)

    /// Normalises the oldest notifications but those with the given keys.
    let normalise: @Sendable (_ most: Int, _ skipped: [String]) async throws -> NormalisedBatch
    /// The keys that such a call would take.
    let pending: @Sendable (_ most: Int, _ skipped: [String]) async throws -> [String]
    let metrics: ReceiverMetrics
    let time: Timekeeper
    let report: @Sendable (ReceiverEvent) -> Void

    /// Works until it is cancelled.
    ///
    /// - Parameter wakes: A value whenever there may be work; also regularly, because other receivers can leave work behind.
    func run(_ wakes: AsyncStream<Void>) async {
        var step = Step()
        for await _ in wakes {
            repeat {
                await perform(&step)
                guard !Task.isCancelled else { return }
            } while step.hasMore
            // It ends early only when it is cancelled.
            try? await time.sleep(step.failed ? Self.failurePause : Self.pause)
        }
    }

    /// What one batch leaves to the next.
    struct Step {
        var hasMore = false
        var failed = false
        /// 1 while a notification is searched that PostgreSQL does not take.
        var most = Normaliser.batch
        var skipped: [String] = []
    }

    func perform(_ step: inout Step) async {
        step.hasMore = false
        step.failed = false
        do {
            let done = try await normalise(step.most, step.skipped)
            metrics.normalise(done.notifications)
            step.hasMore = done.notifications > 0 && done.notifications == step.most
            if done.notifications == 0 { step.most = Self.batch }
        } catch is CancellationError {
            return
        } catch let error as PostgresError where error.isOfOneRow {
            step.hasMore = true
            guard step.most == 1 else { return step.most = 1 }
            await skip(&step, because: error)
            step.most = Self.batch
        } catch {
            step.failed = true
            report(.notNormalised(error))
        }
    }

    /// Leaves the next notification alone, so that the others go on.
    private func skip(_ step: inout Step, because error: PostgresError) async {
        guard let key = try? await pending(1, step.skipped).first else { return }
        step.skipped.append(key)
        report(.skipped(key: key, error))
    }
}
