import Basics
import Glibc
import Synchronization

/// The action in `STORELEDGER_FAILPOINT` and its crash point: `name@nth=action`.
///
/// The action is performed when the point is passed for the nth time, and only then. `pageAdvanced@3,commitSent@1=kill` starts
/// to count `commitSent` after `pageAdvanced` was passed three times. Actions: `kill` (SIGKILL to itself), `stop` (SIGSTOP to
/// itself), `delay(200)` (milliseconds), `cut` (shuts the point's socket down).
final class Failpoint: Sendable {
    private struct Step {
        let name: String
        var left: Int
    }

    private let steps: Mutex<[Step]>
    private let action: Action

    /// Reads both environment variables and installs what they ask for.
    ///
    /// `STORELEDGER_FAILPOINT_LEASE` divides the duration of a lease: a whole number, 1 by default.
    static func install() {
        let failpoint = environment("STORELEDGER_FAILPOINT").map(Failpoint.init)
        CrashPointHandler.install(
            CrashPointHandler(leaseDivisor: environment("STORELEDGER_FAILPOINT_LEASE").flatMap { Int($0) } ?? 1) {
                point,
                socket in
                failpoint?.pass(point)?.perform(at: point, socket: socket)
            }
        )
    }

    private init(_ text: String) {
        let halves = text.split(separator: "=")
        guard halves.count == 2, let action = Action(halves[1]) else { Self.invalid(text) }
        self.action = action
        steps = Mutex(
            halves[0].split(separator: ",").map { step in
                let parts = step.split(separator: "@")
                guard parts.count == 2, let count = Int(parts[1]), count > 0 else { Self.invalid(text) }
                return Step(name: String(parts[0]), left: count)
            }
        )
    }

    /// Counts the point and returns the action when it is due.
    private func pass(_ point: CrashPoint) -> Action? {
        steps.withLock { steps in
            guard let first = steps.first, first.name == "\(point)" else { return nil }
            steps[0].left -= 1
            guard steps[0].left == 0 else { return nil }
            steps.removeFirst()
            return steps.isEmpty ? action : nil
        }
    }

    private enum Action {
        case kill
        case stop
        case cut
        case delay(UInt32)

        init?(_ text: Substring) {
            switch text {
            case "kill": self = .kill
            case "stop": self = .stop
            case "cut": self = .cut
            default:
                guard text.hasPrefix("delay("), text.hasSuffix(")"), let time = UInt32(text.dropFirst(6).dropLast())
                else { return nil }
                self = .delay(time)
            }
        }

        func perform(at point: CrashPoint, socket: Int32) {
            let line = Array("failpoint \(point)\n".utf8)
            _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
            switch self {
            case .kill: Glibc.kill(getpid(), SIGKILL)
            // A signal to the process may stop another thread first, while this one goes on past the crash point.
            case .stop: raise(SIGSTOP)
            case .cut: shutdown(socket, Int32(SHUT_RDWR))
            case .delay(let milliseconds): usleep(milliseconds * 1_000)
            }
        }
    }

    private static func environment(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    private static func invalid(_ text: String) -> Never {
        fatalError("STORELEDGER_FAILPOINT is \(text); it must be name@nth=action")
    }
}
