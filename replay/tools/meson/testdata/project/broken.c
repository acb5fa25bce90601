int main(void){return missing_fn(1)+nothing;}
