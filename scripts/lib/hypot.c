/* Swift's static libraries name `hypot` and `hypotf`, whose newest versions are of glibc 2.35, although StoreLedger calls neither. With
   these functions a release runs with glibc 2.34. A wider type holds each square, so that nothing overflows. */
#include <math.h>

double hypot(double x, double y) {
    if (isinf(x) || isinf(y)) return INFINITY;
    return (double)sqrtl((long double)x * x + (long double)y * y);
}

float hypotf(float x, float y) {
    if (isinf(x) || isinf(y)) return INFINITY;
    return (float)sqrt((double)x * x + (double)y * y);
}
