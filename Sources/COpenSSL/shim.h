#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pkcs7.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* The reason is a macro too deep for Swift. */
static inline _Bool ledger_is_out_of_memory(unsigned long code) {
    return ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE;
}

/* OpenSSL's typed stacks are macros, which Swift does not import: one door for each use we have. */

static inline STACK_OF(X509) *ledger_certificates_new(void) {
    return sk_X509_new_null();
}

/* Takes no reference: the caller keeps the certificate alive while the stack is used. */
static inline int ledger_certificates_append(STACK_OF(X509) *stack, X509 *certificate) {
    return sk_X509_push(stack, certificate);
}

static inline int ledger_certificates_count(const STACK_OF(X509) *stack) {
    return sk_X509_num(stack);
}

static inline X509 *ledger_certificates_at(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}

/* Frees the stack, not the certificates in it. */
static inline void ledger_certificates_free(STACK_OF(X509) *stack) {
    sk_X509_free(stack);
}

/* The bytes that were written to a BIO in memory, which keeps them; a macro. */
static inline long ledger_memory_bytes(BIO *memory, char **bytes) {
    return BIO_get_mem_data(memory, bytes);
}
