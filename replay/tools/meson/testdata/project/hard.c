int main(void){return 99;}
