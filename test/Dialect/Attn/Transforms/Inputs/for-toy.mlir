module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1024>} {}
