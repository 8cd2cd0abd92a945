import Basics
import Glibc
import Testing

/// Each test has a separate process, because signals belong to the process.
struct SignalsTests {
    @Test func `without a signal the body's value comes back`() async {
        await #expect(processExitsWith: .success) {
            let value = try await withSignalsAsCancellation { 7 }
            #expect(value == 7)
        }
    }

    @Test func `without a signal the body's error comes back`() async {
        await #expect(processExitsWith: .success) {
            await #expect(throws: Broken.self) { try await withSignalsAsCancellation { throw Broken() } }
        }
    }

    @Test func `SIGTERM cancels the body, which unwinds before Interrupted is thrown`() async {
        await #expect(processExitsWith: .success) {
            let error = await #expect(throws: Interrupted.self) {
                try await withSignalsAsCancellation {
                    kill(getpid(), SIGTERM)
                    try await Task.sleep(for: .seconds(3_600))
                }
            }
            #expect(error?.signal == SIGTERM)
            #expect(error?.failure == nil)
        }
    }

    @Test func `SIGINT is heard as well, and what breaks while unwinding is kept`() async {
        await #expect(processExitsWith: .success) {
            let error = await #expect(throws: Interrupted.self) {
                try await withSignalsAsCancellation {
                    kill(getpid(), SIGINT)
                    // Ends by cancellation only; silence is right because the next line is the point.
                    try? await Task.sleep(for: .seconds(3_600))
                    throw Broken()
                }
            }
            #expect(error?.signal == SIGINT)
            #expect(error?.failure is Broken)
        }
    }

    @Test func `a second signal ends the process at once`() async {
        await #expect(processExitsWith: .exitCode(143)) {
            try await withSignalsAsCancellation {
                kill(getpid(), SIGINT)
                // Deaf to the first signal.
                try? await Task.sleep(for: .seconds(3_600))
                kill(getpid(), SIGTERM)
                while true { await Task.yield() }
            }
        }
    }

    @Test func `the caller's cancellation is the body's outcome, not an interruption`() async {
        await #expect(processExitsWith: .success) {
            let work = Task {
                try await withSignalsAsCancellation { try await Task.sleep(for: .seconds(3_600)) }
            }
            work.cancel()
            await #expect(throws: CancellationError.self) { try await work.value }
        }
    }

    @Test func `afterwards a signal does what it did before`() async {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            try await withSignalsAsCancellation {}
            kill(getpid(), SIGTERM)
            // Delivered to the process, so to some other thread and in its own time.
            while true { await Task.yield() }
        }
    }

    @Test func `a closed pipe is an error and not the end`() async {
        await #expect(processExitsWith: .success) {
            ignoreSIGPIPE()
            var ends: [Int32] = [0, 0]
            #expect(unsafe pipe(&ends) == 0)
            close(ends[0])
            #expect(unsafe write(ends[1], "x", 1) == -1)
            #expect(errno == EPIPE)
        }
    }
}

private struct Broken: Error {}
