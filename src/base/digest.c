#include "digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

/* Without memory for its own beginnings libcrypto 3.0 would go on and crash. */
static bool has_begun(void) {
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
    return OSSL_LIB_CTX_get0_global_default() != NULL;
#else
    return true;
#endif
}

bool digest_sha256(const char *prefix, boxcar_str text, uint8_t ret_digest[DIGEST_SIZE]) {
    EVP_MD_CTX *context = has_begun() ? EVP_MD_CTX_new() : NULL;
    bool ok = context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) &&
              EVP_DigestUpdate(context, prefix, strlen(prefix)) &&
              (text.len == 0 || EVP_DigestUpdate(context, text.data, text.len)) &&
              EVP_DigestFinal_ex(context, ret_digest, NULL);

    EVP_MD_CTX_free(context);
    return ok;
}
