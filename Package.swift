// swift-tools-version: 6.2
import PackageDescription

// The targets are in levels: a target depends only on targets of lower levels. The build refuses an import that is not
// listed here (`--explicit-target-dependency-import-check error` in .ci/run).

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .strictMemorySafety(),
    ]
    // CI turns every warning into an error. Users do not, because a newer compiler can have new warnings.
    + (Context.environment["STORELEDGER_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)])

// CI optimizes what its tests run for minutes, in a build that is not optimized otherwise (scripts/lib/build.sh). The fuzzer is
// built with the options that scripts/fuzz passes.
let isOptimized = Context.environment["STORELEDGER_OPTIMIZE"] != nil && Context.environment["STORELEDGER_FUZZ"] == nil
// `-O` alone would have no effect, because SwiftPM passes the `-Onone` of the command line after it. What follows `-Xfrontend` is passed
// to the compiler last.
let optimized: [SwiftSetting] = settings + (isOptimized ? [.unsafeFlags(["-Xfrontend", "-O"])] : [])
let optimizedModules: Set = [
    "StrictJSON", "Basics", "AppStoreModel", "CSVFormat", "ParquetFormat", "Postgres",
    "Hashing", "SignedData", "RateLimit", "Normalize", "Ledger",
    "AppStoreSimulator",
]

func module(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        resources: resources,
        swiftSettings: optimizedModules.contains(name) ? optimized : settings
    )
}

func tests(of name: String, _ dependencies: [Target.Dependency], _ settings: [SwiftSetting] = settings) -> Target {
    .testTarget(
        name: name + "Tests",
        dependencies: [.byName(name: name)] + dependencies,
        swiftSettings: settings
    )
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")

// The fuzzer links only with `-sanitize=fuzzer`, so only scripts/fuzz builds it.
let fuzzer: [Target] =
    Context.environment["STORELEDGER_FUZZ"] == nil
    ? []
    : [
        .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzz/CLibFuzzer"),
        .executableTarget(
            name: "fuzzer",
            dependencies: ["FuzzTargets", "CLibFuzzer"],
            path: "Tests/Fuzz/Fuzzer",
            swiftSettings: settings
        ),
    ]

let package = Package(
    name: "StoreLedger",
    products: [
        .executable(name: "storeledger", targets: ["storeledger"]),
        .executable(name: "appstore-simulator", targets: ["appstore-simulator"]),
    ],
    dependencies: [
        // Command lines: help, completions, validation.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        // Job files in YAML.
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        // Logs: the common interface of Swift libraries.
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        // The HTTP server of the receiver and of the simulator.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        // Header fields and bodies in Hummingbird's interface. Both use them directly.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        // Graceful shutdown of both; Hummingbird depends on it anyway.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
    ],
    targets: [
        // Level 0: C libraries
        .systemLibrary(name: "CLibCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CLibCSV", providers: [.apt(["libcsv-dev"])]),
        // Compresses Parquet files. Every reader of Parquet reads Zstandard.
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),

        // Level 1: types and helpers that depend on no other target
        module("StrictJSON"),
        module("Basics"),
        module("Hashing", ["COpenSSL"]),

        // Level 2: Apple's types, and one protocol each
        module("AppStoreModel", ["StrictJSON"]),
        module("CSVFormat", ["Basics", "CLibCSV"]),
        // No Swift library that writes Parquet builds on Linux without a C++ library of 200 MB, so this one writes flat schemas.
        module("ParquetFormat", ["Basics", "CZstd"]),
        module("HTTPTransport", ["Basics", "CLibCurl"]),
        module("Postgres", ["Basics", "CLibPQ"], resources: [.embedInCode("SQL")]),

        // Level 3: the ledger's tables, and signatures
        module("LedgerSchema", ["Postgres"]),
        module("SignedData", ["AppStoreModel", "StrictJSON", "Basics", "Hashing", "COpenSSL"]),

        // Level 4: job files with their streams, and Apple's hourly limits
        module("JobPlan", ["AppStoreModel", "StrictJSON", "Basics", "LedgerSchema", yams]),
        module(
            "RateLimit",
            ["AppStoreModel", "Basics", "LedgerSchema", "Postgres"],
            resources: [.embedInCode("SQL")]
        ),

        // Level 5: the parts of a run
        module("Crawl", ["AppStoreModel", "Basics", "JobPlan", "RateLimit"]),
        module("AppStoreAPI", ["AppStoreModel", "Basics", "HTTPTransport", "SignedData"]),
        // `sign`: files of requests that an app passes to StoreKit.
        module("Signing", ["AppStoreModel", "StrictJSON", "Basics", "CSVFormat", "JobPlan", "SignedData"]),
        module(
            "Normalize",
            ["AppStoreModel", "StrictJSON", "LedgerSchema", "SignedData", "Basics", "Hashing", "Postgres"]
        ),
        module(
            "Ledger",
            [
                "AppStoreModel", "StrictJSON", "LedgerSchema", "Basics", "Hashing", "JobPlan", "SignedData", "Postgres",
                "RateLimit",
            ],
            resources: [.embedInCode("SQL")]
        ),

        // Level 6: what a run will do, and what is done with a ledger
        module(
            "Planning",
            ["AppStoreModel", "LedgerSchema", "Basics", "Hashing", "JobPlan", "Postgres", "CSVFormat", "Ledger"],
            resources: [.embedInCode("SQL")]
        ),
        module(
            "Actions",
            [
                "AppStoreModel", "StrictJSON", "LedgerSchema", "Basics", "HTTPTransport", "Hashing", "JobPlan",
                "Postgres", "CSVFormat", "RateLimit", "Crawl", "AppStoreAPI", "Normalize", "Ledger",
            ],
            resources: [.embedInCode("SQL")]
        ),
        module(
            "Erasure",
            ["StrictJSON", "LedgerSchema", "Basics", "Postgres", "Ledger"],
            resources: [.embedInCode("SQL")]
        ),
        module(
            "Publish",
            ["LedgerSchema", "Basics", "Hashing", "JobPlan", "Postgres", "CSVFormat", "ParquetFormat", "Ledger"],
            resources: [.embedInCode("SQL")]
        ),
        // `receive`: an HTTP server that stores notifications, and makes records of them.
        module(
            "Receiver",
            [
                "AppStoreModel", "StrictJSON", "LedgerSchema", "Basics", "Hashing", "JobPlan", "SignedData", "Postgres",
                "Normalize", "Ledger", hummingbird, hummingbirdCore, nioCore, httpTypes, serviceLifecycle, logging,
            ]
        ),
        // JavaScript and CSS are compiled into the executable (`PackageResources`). A resource bundle would be a folder that has
        // to be found at run time: scripts/install would have to copy it, and `Bundle` needs all of Foundation.
        module(
            "Report",
            ["AppStoreModel", "StrictJSON", "Basics", "Hashing", "Postgres", "Ledger"],
            resources: [
                .embedInCode("Resources/report.css"), .embedInCode("Resources/report.js"), .embedInCode("SQL"),
            ]
        ),

        // Level 7: the pipeline and the simulator
        module(
            "Pipeline",
            [
                "AppStoreModel", "StrictJSON", "LedgerSchema", "Basics", "Hashing", "JobPlan", "HTTPTransport",
                "SignedData", "Postgres", "RateLimit", "Crawl", "AppStoreAPI", "Signing", "Normalize",
                "Ledger", "Planning", "Actions", "Erasure", "Publish", "Receiver", "Report",
            ]
        ),
        module(
            "AppStoreSimulator",
            [
                "AppStoreModel", "StrictJSON", "SignedData", "Basics", "Hashing", "HTTPTransport", hummingbird, nioCore,
                httpTypes, serviceLifecycle, logging,
            ]
        ),

        // Level 8: the commands
        module(
            "CommandLineTool",
            [
                "AppStoreModel", "Basics", "JobPlan", "SignedData", "RateLimit", "Crawl", "Signing", "Ledger",
                "Planning", "Actions", "Erasure", "Publish", "Receiver", "Report", "Pipeline", argumentParser, logging,
            ]
        ),

        // Level 9: the executables
        .executableTarget(name: "storeledger", dependencies: ["CommandLineTool"], swiftSettings: settings),
        .executableTarget(
            name: "appstore-simulator",
            dependencies: ["AppStoreSimulator", "Basics", argumentParser],
            swiftSettings: settings
        ),

        // One test target per target; LedgerTests has the tests of Erasure, of Publish and of the SQL of Actions too, because they need its support.
        // `TestSupport` provides databases, loopback servers and a simulator to all of them.
        .target(
            name: "TestSupport",
            dependencies: ["AppStoreModel", "Basics", "Hashing", "Postgres", "RateLimit"],
            path: "Tests/TestSupport",
            swiftSettings: optimized
        ),
        tests(of: "StrictJSON", []),
        tests(of: "AppStoreModel", ["StrictJSON"]),
        tests(of: "Basics", []),
        tests(of: "JobPlan", ["AppStoreModel", "StrictJSON", "Basics"]),
        tests(of: "HTTPTransport", ["CLibCurl"]),
        tests(of: "Hashing", []),
        tests(of: "SignedData", ["AppStoreModel", "StrictJSON", "Basics", "Hashing", "TestSupport"]),
        tests(of: "Postgres", ["TestSupport"]),
        tests(of: "CSVFormat", []),
        tests(of: "ParquetFormat", ["TestSupport"]),
        // Its simulated fleets make millions of grants.
        tests(of: "RateLimit", ["AppStoreModel", "Basics", "JobPlan", "TestSupport"], optimized),
        tests(of: "Crawl", ["AppStoreModel", "Basics", "JobPlan", "RateLimit", "TestSupport"]),
        tests(of: "AppStoreAPI", ["AppStoreModel", "JobPlan", "HTTPTransport", "SignedData", "TestSupport"]),
        tests(
            of: "Signing",
            ["AppStoreModel", "StrictJSON", "Basics", "CSVFormat", "Hashing", "SignedData", "TestSupport"]
        ),
        tests(
            of: "Normalize",
            [
                "AppStoreModel", "StrictJSON", "Hashing", "JobPlan", "LedgerSchema", "SignedData", "Postgres",
                "TestSupport",
            ]
        ),
        tests(
            of: "Ledger",
            [
                "AppStoreModel", "LedgerSchema", "Basics", "Hashing", "JobPlan", "SignedData", "Postgres", "RateLimit",
                "Planning", "Actions", "Erasure",
                "Publish", "TestSupport",
            ]
        ),
        tests(
            of: "Actions",
            [
                "AppStoreModel", "StrictJSON", "LedgerSchema", "Basics", "JobPlan", "CSVFormat", "Postgres", "Crawl",
                "AppStoreAPI", "Normalize", "Ledger", "TestSupport",
            ]
        ),
        tests(of: "Planning", ["AppStoreModel", "JobPlan", "Ledger", "TestSupport"]),
        tests(
            of: "Receiver",
            [
                "AppStoreModel", "StrictJSON", "LedgerSchema", "Basics", "JobPlan", "SignedData", "Postgres",
                "Normalize", "Ledger", "TestSupport", nioCore, nioEmbedded,
            ]
        ),
        tests(
            of: "AppStoreSimulator",
            ["AppStoreModel", "StrictJSON", "Basics", "Hashing", "JobPlan", "SignedData", "TestSupport"]
        ),
        tests(of: "Report", ["AppStoreModel", "StrictJSON", "TestSupport"]),
        tests(
            of: "Pipeline",
            ["Basics", "Report", "TestSupport"]
        ),
        tests(
            of: "CommandLineTool",
            [
                "Actions", "AppStoreModel", "Basics", "Crawl", "JobPlan", "Ledger", "Pipeline", "RateLimit",
                "TestSupport",
            ]
        ),
        // The code that the fuzzer calls, and a test that calls it with every stored input.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "AppStoreModel", "StrictJSON", "LedgerSchema", "Hashing", "JobPlan", "HTTPTransport", "SignedData",
                "Postgres",
                "CSVFormat", "RateLimit", "Crawl", "AppStoreAPI", "Normalize",
            ],
            path: "Tests/Fuzz/FuzzTargets",
            swiftSettings: settings
        ),
        .testTarget(
            name: "FuzzTargetsTests",
            dependencies: ["FuzzTargets"],
            path: "Tests/Fuzz/FuzzTargetsTests",
            swiftSettings: settings
        ),
        // `storeledger` with an action at crash points, and the loop that kills it there; scripts/crash-loop runs both.
        .executableTarget(
            name: "storeledger-failpoints",
            dependencies: ["Basics", "CommandLineTool"],
            path: "Tests/Failpoints",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "crash-loop",
            dependencies: ["LedgerSchema", "Postgres", "TestSupport", argumentParser],
            path: "Tests/CrashLoop",
            swiftSettings: settings
        ),
        // Measures single parts in a release build; scripts/bench runs it.
        .executableTarget(
            name: "ledger-bench",
            dependencies: [
                "AppStoreModel", "StrictJSON", "Hashing", "JobPlan", "LedgerSchema", "SignedData", "Signing",
                "Postgres",
                "Normalize",
                "Ledger", "Planning", "Erasure", "Basics",
                "AppStoreSimulator", "TestSupport", argumentParser,
            ],
            path: "Tests/Benchmarks",
            swiftSettings: settings
        ),
        // Tests of the commands as users run them. scripts/test builds the executables before. They are no dependencies,
        // because this target, which takes longest to compile, would then be compiled last and alone.
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "AppStoreModel", "Hashing", "Ledger", "SignedData", "Postgres",
                "TestSupport",
            ],
            swiftSettings: settings
        ),
    ] + fuzzer
)
