#include <gtest/gtest.h>
#include <stdexcept>
#include "shop.h"
TEST(Add, Works) { EXPECT_EQ(add(1, 1), 2); }
TEST(Add, Differs) { EXPECT_EQ(add(1, 1), 3); }
TEST(Add, Throws) { throw std::runtime_error("no"); }
TEST(Add, Skips) { GTEST_SKIP() << "not here"; }
TEST(Add, DISABLED_Off) { FAIL(); }
class P : public ::testing::TestWithParam<const char *> {};
TEST_P(P, Is) { EXPECT_STRNE(GetParam(), "b c"); }
INSTANTIATE_TEST_SUITE_P(All, P, ::testing::Values("a", "b c", "ünï"));
