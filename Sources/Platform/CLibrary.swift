// The C library of the platform: no other file imports it.
#if canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#elseif canImport(Darwin)
    @_exported public import Darwin
#else
    #error("StoreLedger needs the C library of Linux or Darwin.")
#endif
