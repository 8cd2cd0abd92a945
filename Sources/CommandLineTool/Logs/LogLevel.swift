import ArgumentParser
import Logging

/// The form of a log.
enum LogFormat: String, ExpressibleByArgument, CaseIterable {
    case plain, json
}

/// The log levels; see ``RunLog``.
enum LogLevel: String, ExpressibleByArgument, CaseIterable {
    case debug, info, notice, warning, error

    var loggerLevel: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}
