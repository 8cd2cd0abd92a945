import Basics
import Inbox
import Postgres

/// Makes records of stored notifications in the background, batch by batch.
struct InboxWorker: Sendable {
    /// The most notifications of one transaction.
    static let batch = 200
    /// How long it waits for more notifications after a batch that was not full.
    ///
    /// A batch of a hundred costs little more than a batch of one.
    static let pause = Duration.milliseconds(250)
    /// How long it waits after a failure.
    static let failurePause = Duration.seconds(5)

    /// Normalises the oldest pending notifications, except those whose keys are in `skipped`.
    let normalize: @Sendable (_ most: Int, _ skipped: [String]) async throws -> NormalizedBatch
    /// The keys of the notifications that ``normalize`` would take.
    let pending: @Sendable (_ most: Int, _ skipped: [String]) async throws -> [String]
    /// Gets the number of notifications that were normalised.
    let count: @Sendable (Int) -> Void
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
            // The sleep throws only when the task is cancelled, and then the stream ends.
            try? await time.sleep(step.failed ? Self.failurePause : Self.pause)
        }
    }

    /// What one batch passes on to the next.
    struct Step {
        var hasMore = false
        var failed = false
        /// The most notifications of the next batch; 1 while looking for the notification that PostgreSQL rejects.
        var most = InboxWorker.batch
        var skipped: [String] = []
    }

    func perform(_ step: inout Step) async {
        step.hasMore = false
        step.failed = false
        do {
            let done = try await normalize(step.most, step.skipped)
            count(done.notifications)
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
            report(.notNormalized(error))
        }
    }

    /// Skips the next notification until the receiver is restarted, so that the others are normalised.
    private func skip(_ step: inout Step, because error: PostgresError) async {
        // If the database does not answer, the next batch reports it.
        guard let key = try? await pending(1, step.skipped).first else { return }
        step.skipped.append(key)
        report(.skipped(key: key, error))
    }
}
