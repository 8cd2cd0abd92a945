import ArgumentParser
import Logging

enum LogFormat: String, ExpressibleByArgument, CaseIterable {
    case plain, json
}

/// The log options of a run.
struct LogOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "plain, or json: one object per line on stderr, with time, level and fields.",
            valueName: "FORM"
        )
    )
    var logFormat: LogFormat = .plain

    @Option(help: ArgumentHelp("The lowest level to log: debug, info, notice, warning or error.", valueName: "LEVEL"))
    var logLevel: LogLevel = .info
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
