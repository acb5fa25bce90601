#include <stdio.h>
int main(void){puts("want 3 got 4");return 1;}
