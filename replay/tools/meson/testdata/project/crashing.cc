#include <gtest/gtest.h>
TEST(Crash, Before) { EXPECT_EQ(1, 1); }
TEST(Crash, Null) { volatile int *p = nullptr; *p = 1; }
TEST(Crash, After) { EXPECT_EQ(1, 1); }
