// The cost of encryption for a payload, compared with a bare EVP loop that only encrypts: no binding, no new nonce, no
// base64. The bare rows are the lower bound in the same run. For 200 bytes 2 µs, half of it the nonce; for 64 KiB 100
// µs, two thirds of it base64: CPU time of build/release/bench/seal_bench, 2.0 GHz Xeon, busy.
#include <stdexcept>
#include <string>

#include <benchmark/benchmark.h>
#include <openssl/evp.h>

#include "seal/base64.h"
#include "seal/sealer.h"

namespace easyretry::seal {
namespace {

const Binding kBinding{.name_space = "default", .handler = "payment.pay", .key = "order-42"};

const Sealer& sealer() {
  static const Sealer one{{.current = "2026-11",
                           .keys = {EncryptionKey::from_hex(
                               "2026-11", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")}}};
  return one;
}

std::string payload(const benchmark::State& state) {
  return std::string(static_cast<std::size_t>(state.range()), 'x');
}

void count_bytes(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * state.range());
}

void bare_evp(benchmark::State& state) {
  const std::string plain = payload(state);
  std::string out(plain.size(), '\0');
  unsigned char key[32] = {1}, nonce[12] = {2}, tag[16];
  const auto* in = reinterpret_cast<const unsigned char*>(plain.data());
  auto* const to = reinterpret_cast<unsigned char*>(out.data());
  EVP_CIPHER_CTX* const context = EVP_CIPHER_CTX_new();
  int size = 0;
  EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nullptr, key, nonce);
  for (auto _ : state) {
    EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, nonce);
    EVP_EncryptUpdate(context, to, &size, in, static_cast<int>(plain.size()));
    EVP_EncryptFinal_ex(context, to, &size);
    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag);
    benchmark::DoNotOptimize(tag);
  }
  EVP_CIPHER_CTX_free(context);
  count_bytes(state);
}
BENCHMARK(bare_evp)->Arg(200)->Arg(65536);

void bare_base64(benchmark::State& state) {
  const std::string plain = payload(state);
  for (auto _ : state) benchmark::DoNotOptimize(base64_encode(plain));
  count_bytes(state);
}
BENCHMARK(bare_base64)->Arg(200)->Arg(65536);

void bare_nonce(benchmark::State& state) {
  unsigned char nonce[12];
  for (auto _ : state) benchmark::DoNotOptimize(random_bytes(nonce));
}
BENCHMARK(bare_nonce);

void seal_payload(benchmark::State& state) {
  const std::string plain = payload(state);
  for (auto _ : state) benchmark::DoNotOptimize(sealer().seal(plain, kBinding));
  count_bytes(state);
}
BENCHMARK(seal_payload)->Arg(200)->Arg(65536);

void open_payload(benchmark::State& state) {
  const std::string stored = sealer().seal(payload(state), kBinding).value();
  if (!sealer().open(stored, kBinding)) throw std::logic_error("it should open");
  for (auto _ : state) benchmark::DoNotOptimize(sealer().open(stored, kBinding));
  count_bytes(state);
}
BENCHMARK(open_payload)->Arg(200)->Arg(65536);

void identity_of_arguments(benchmark::State& state) {
  const std::string arguments = payload(state);
  for (auto _ : state) benchmark::DoNotOptimize(sealer().identity(arguments));
  count_bytes(state);
}
BENCHMARK(identity_of_arguments)->Arg(200);

}  // namespace
}  // namespace easyretry::seal

BENCHMARK_MAIN();
