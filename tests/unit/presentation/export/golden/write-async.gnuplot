# gnuplot write-async.gnuplot
set datafile separator "\t"
set terminal pngcairo noenhanced size 1000,600 font 'sans,11' linewidth 1.5
set logscale x 2
set xrange [3276.8:1.31072e+06]
set xtics ('4k' 4096, '16k' 16384, '1m' 1048576)
set xlabel 'block size'
set yrange [0:*]
set grid ytics linetype 1 linecolor rgb '#dddddd' linewidth 0.7
set border 3
set tics nomirror
set key outside right top

set output 'write-async-iops-write.png'
set title 'write async iops write'."\n".'left out: 2 refuted'
set ylabel 'IOPS'
plot \
    'write-async.dat' index 0 using 15:4:9:10 with yerrorlines linecolor rgb '#0072b2' dashtype 1 pointtype 7 title 'mirror', \
    'write-async.dat' index 1 using 15:4:9:10 with yerrorlines linecolor rgb '#d55e00' dashtype 1 pointtype 5 title 'union[cache.files=off]', \
    'write-async.dat' index 2 using 15:4:9:10 with yerrorlines linecolor rgb '#009e73' dashtype 1 pointtype 9 title 'union[cache.files=full]'

set output 'write-async-bandwidth-mebibytes-write.png'
set title 'write async bandwidth-mebibytes write'."\n".'left out: 2 refuted'
set ylabel 'MiB/s'
plot \
    'write-async.dat' index 0 using 15:6:13:14 with yerrorlines linecolor rgb '#0072b2' dashtype 1 pointtype 7 title 'mirror', \
    'write-async.dat' index 1 using 15:6:13:14 with yerrorlines linecolor rgb '#d55e00' dashtype 1 pointtype 5 title 'union[cache.files=off]', \
    'write-async.dat' index 2 using 15:6:13:14 with yerrorlines linecolor rgb '#009e73' dashtype 1 pointtype 9 title 'union[cache.files=full]'
