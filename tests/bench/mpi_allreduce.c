// MPI_Allreduce of floats beside which tools/bench sets pldc's all-reduces. Arguments: pairs of bytes and calls a round.
// Prints "bytes seconds" for each: the best round of the slowest rank, divided by the calls.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRounds = 25 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int a = 1; a + 1 < argc; a += 2) {
    const int count = atoi(argv[a]) / (int)sizeof(float);
    const int calls = atoi(argv[a + 1]);
    float* in = calloc((size_t)count, sizeof(float));
    float* out = calloc((size_t)count, sizeof(float));
    if (in == NULL || out == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    double best = 1e9;
    for (int round = 0; round < kRounds; ++round) {
      MPI_Barrier(MPI_COMM_WORLD);
      double mine = MPI_Wtime(), slowest = 0;
      for (int i = 0; i < calls; ++i) MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      mine = (MPI_Wtime() - mine) / calls;
      MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      if (slowest < best) best = slowest;
    }
    if (rank == 0) printf("%d %.9f\n", count * (int)sizeof(float), best);
    free(in);
    free(out);
  }
  MPI_Finalize();
  return 0;
}
