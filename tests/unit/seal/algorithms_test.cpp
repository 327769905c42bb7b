// The algorithms match the vectors of their standards, through the same functions that the sealer uses.

#include <string>

#include <gtest/gtest.h>

#include "seal/base64.h"
#include "seal/crypto.h"

namespace easyretry::seal {
namespace {

std::string bytes(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    out.push_back(char(std::stoi(std::string{hex.substr(i, 2)}, nullptr, 16)));
  return out;
}

Bytes raw(const std::string& text) {
  return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

unsigned char* raw(char* text) {
  return reinterpret_cast<unsigned char*>(text);
}

struct GcmVector {
  std::string key, nonce, beside, plain, sealed;
};

// McGrew and Viega, "The Galois/Counter Mode of Operation", submitted to NIST: test cases 13, 14 and 16.
const GcmVector kGcm[] = {
    {std::string(64, '0'), std::string(24, '0'), "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
    {std::string(64, '0'), std::string(24, '0'), "", std::string(32, '0'),
     "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"},
    {"feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657b"
     "a"
     "637b39",
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0ab"
     "c"
     "c9f66276fc6ece0f4e1768cddf8853bb2d551b"},
};

TEST(AesGcm, AgreesWithTheVectorsOfItsAuthors) {
  for (const auto& vector : kGcm) {
    const std::string nonce = bytes(vector.nonce), plain = bytes(vector.plain), beside = bytes(vector.beside);
    AesGcm cipher{raw(bytes(vector.key)).first<32>()};
    std::string sealed(plain.size() + kTagBytes, '\0');
    ASSERT_TRUE(cipher.encrypt(raw(nonce), beside, plain, raw(sealed.data())));
    EXPECT_EQ(sealed, bytes(vector.sealed));
    std::string opened(plain.size(), '\0');
    ASSERT_TRUE(cipher.decrypt(raw(nonce), beside, sealed, raw(opened.data())));
    EXPECT_EQ(opened, plain);
  }
}

TEST(AesGcm, WorksOnAfterAMessageThatDidNotOpen) {
  AesGcm cipher{raw(bytes(kGcm[2].key)).first<32>()};
  const std::string nonce = bytes(kGcm[2].nonce), beside = bytes(kGcm[2].beside), sealed = bytes(kGcm[2].sealed);
  std::string plain(sealed.size() - kTagBytes, '\0');
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(cipher.decrypt(raw(nonce), "other", sealed, raw(plain.data())));
    EXPECT_TRUE(cipher.decrypt(raw(nonce), beside, sealed, raw(plain.data())));
    EXPECT_EQ(plain, bytes(kGcm[2].plain));
  }
}

// Made with Python's hmac and hashlib: HKDF of the bytes 0 to 31, no salt.
TEST(Derive, IsHkdfSha256) {
  const std::string secret = bytes("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  Secret<32> out;
  derive(raw(secret).first<32>(), "label", out);
  EXPECT_EQ(std::string(out.bytes.begin(), out.bytes.end()),
            bytes("479dd84d163df1782566e1803faf199e24d3af4dcc119c299dc0190b1c46198f"));
  derive(raw(secret).first<32>(), "", out);
  EXPECT_EQ(std::string(out.bytes.begin(), out.bytes.end()),
            bytes("37ad29109f43265287804b674e2653d0a513718907f97fca97c95bded8104bbf"));
}

TEST(Hmac, IsHmacSha256EachTime) {
  const std::string key = bytes("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  Hmac hmac{raw(key).first<32>()};
  for (int i = 0; i < 3; ++i) {
    const auto digest = hmac("what do ya want for nothing?");
    EXPECT_EQ(std::string(digest.begin(), digest.end()),
              bytes("099805f4ac310786968565c098db515cc50862b420ae31e20238312344bed36a"));
  }
  const auto of_nothing = hmac("");
  EXPECT_EQ(std::string(of_nothing.begin(), of_nothing.end()),
            bytes("d38b42096d80f45f826b44a9d5607de72496a415d3f4a1a8c88e3bb9da8dc1cb"));
}

TEST(Base64, AgreesWithRfc4648) {
  const std::pair<std::string, std::string> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"},
                                                         {"\xff\xfe\xfd", "//79"},
                                                         {"\xfb\xef\xbe", "++++"}};
  for (const auto& [plain, text] : vectors) {
    EXPECT_EQ(base64_encode(plain), text);
    EXPECT_EQ(base64_decode(text), plain);
  }
}

TEST(Base64, HasOneTextForOneSequenceOfBytes) {
  for (const char* text : {"Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "Z===", "====", "=m9v", "Zm9v\n", " Zm9v", "Zm 9",
                           "Zm9-", "Zm9_", "Zm9\x80", "Zm9v    "}) {
    EXPECT_FALSE(base64_decode(text)) << text;
  }
}

}  // namespace
}  // namespace easyretry::seal
